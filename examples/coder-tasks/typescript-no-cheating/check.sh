node_modules/.bin/tsc
node --input-type=module -e "import { price } from './build/price.js'; if (price(5) !== '0.05' || price(150) !== '1.50') process.exit(1)"
