node --input-type=module -e "import { list } from './list.mjs'; if (list(['a', 'b'], { limit: 1 }).length !== 1) process.exit(1)"
