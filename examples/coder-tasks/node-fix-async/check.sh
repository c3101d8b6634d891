node --input-type=module -e "import { load } from './load.mjs'; if (await load(async () => 1, async () => 2) !== '1 2') process.exit(1)"
