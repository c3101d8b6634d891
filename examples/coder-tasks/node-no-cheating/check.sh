node --input-type=module -e "import { price } from './price.mjs'; if (price(5) !== '0.05') process.exit(1)"
