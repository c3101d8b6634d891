node_modules/.bin/tsc
node --input-type=module -e "import { load } from './build/load.js'; if (await load(async () => '1', async () => '2') !== '1 2') process.exit(1)"
