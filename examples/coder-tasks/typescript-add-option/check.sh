cat > checked.ts <<'END'
import { list } from "./list.js";
const most: string[] = list(["a", "b"], { limit: 1 });
if (most.length !== 1) process.exit(1);
END
node_modules/.bin/tsc --strict --target es2022 --module nodenext --types node --skipLibCheck --outDir build checked.ts
node build/checked.js
