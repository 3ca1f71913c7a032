// Lists the sentences that begin with a relative word. Usage: `bun scripts/list-prose.ts [kind] [part of a path]`.
import { countProse, listInverted, readProse, type ProseKind } from './prose/count-prose.ts';

const [wanted, part = ''] = process.argv.slice(2);
const prose = readProse();
const kinds = countProse(prose)
  .map(({ kind }) => kind)
  .filter((kind: ProseKind) => wanted === undefined || kind === wanted);
for (const line of listInverted(prose, kinds)) if (line.includes(part)) console.log(line);
console.table(countProse(prose));
