/** Reads a price file: YAML or JSON. Every mistake is reported with its line, its column and its field. */
import { checkPrices, GoondanError, type Prices } from '@goondan/types';
import { readTextFile, refusalText } from '../files/text-file.ts';
import { pathText } from '../place.ts';
import { readYaml } from '../yaml/read-yaml.ts';

const MOST_BYTES = 1024 * 1024;
const MOST_PROBLEMS = 10;

/** `path`: the file. `name`: its name in messages. **Errors** — `E_PRICES_FILE`. */
export function loadPrices(path: string, name = path): Prices {
  const file = readTextFile(path, MOST_BYTES);
  if (file.type === 'missing') throw wrong([`${name} does not exist.`]);
  if (file.type === 'refused') throw wrong([`${name} ${refusalText(file.reason, MOST_BYTES)}`]);
  if (file.type === 'bytes') throw wrong([`${name}:${file.line}:${file.column}: This is not text.`]);
  return readPrices(file.text, name);
}

/** Reads the text of a price file. JSON is YAML, too. **Errors** — `E_PRICES_FILE`. */
export function readPrices(text: string, name: string): Prices {
  const { documents, findings } = readYaml(text, name);
  if (findings.length > 0) {
    throw wrong(findings.map(({ problem: { line, column, message } }) => `${name}:${line}:${column}: ${message}`));
  }
  const [document, second] = documents;
  if (document === undefined) throw wrong([`${name} is empty.`]);
  if (second !== undefined) throw wrong([`${name} has several documents; a price file has one.`]);
  const prices = checkPrices(document.value);
  if (!('problems' in prices)) return prices;
  throw wrong(
    prices.problems.map((problem) => {
      const { line, column } = document.placeOf(problem.path);
      return `${name}:${line}:${column}: ${pathText(problem.path) || 'The file'} ${problem.message}.`;
    }),
  );
}

function wrong(problems: readonly string[]): GoondanError {
  const more = problems.length - MOST_PROBLEMS;
  const shown = more > 0 ? [...problems.slice(0, MOST_PROBLEMS), `… and ${more} more`] : problems;
  return new GoondanError('E_PRICES_FILE', shown.join('\n'));
}
