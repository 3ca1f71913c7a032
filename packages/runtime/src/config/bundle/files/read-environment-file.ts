/**
 * Reads the `.env` of a bundle, because Bun's own reading is disabled. The file is only a source of values for
 * `valueFrom`. It never overrides the environment, and cannot set variables that decide how programs run or where
 * requests go.
 */
import type { CodePlace } from '@goondan/types';
import { variableNamePattern } from '../../variable-name.ts';
import { type Finding, warningAt } from '../bundle-problem.ts';
import { readTextFileIn, refusalText } from './text-file.ts';

const FILE = '.env';
const LARGEST = 1024 * 1024;

const refused = /^(?:PATH$|LD_|DYLD_|NODE_|BUN_|GOONDAN_)|_(?:BASE_URL|PROXY)$/i;

export async function readEnvironmentFile(folder: string) {
  const read = await readTextFileIn(folder, FILE, LARGEST);
  if (read.type === 'missing') return { values: {}, findings: [] };
  if (read.type === 'text') return parseEnvironmentFile(read.text);
  const problem = read.type === 'refused' ? refusalText(read.reason, LARGEST) : 'is not UTF-8';
  return { values: {}, findings: [warningAt(placeIn(1, 1), 'E_ENV_FILE', `${FILE} ${problem}; it was left out.`)] };
}

/** Parses the text as Node and Bun do. Variables in values are not expanded. */
export function parseEnvironmentFile(text: string) {
  const values: Record<string, string> = {};
  const findings: Finding[] = [];
  const places = placesByName(text);
  for (const [name, value = ''] of Object.entries(process.getBuiltinModule('node:util').parseEnv(text))) {
    const place = places.get(name) ?? placeIn(1, 1);
    if (!variableNamePattern.test(name)) {
      // The name is not shown: it may be a part of a secret with line breaks and without quotes.
      const message = `Line ${place.line} of ${FILE} is not NAME=value; it was ignored.`;
      findings.push(warningAt(place, 'E_ENV_FILE', message));
    } else if (refused.test(name)) {
      findings.push(warningAt(place, 'E_ENV_REFUSED', `${FILE} must not set ${name}; it was left out.`));
    } else values[name] = value;
  }
  return { values, findings };
}

function placesByName(text: string): ReadonlyMap<string, CodePlace> {
  return new Map(
    text.split(/\r\n|\n|\r/).map((line, index) => {
      const [, name = ''] = /^\s*(?:export\s+)?([^\s=]*)/.exec(line) ?? [];
      return [name, placeIn(index + 1, 1 + line.search(/\S/))];
    }),
  );
}

function placeIn(line: number, column: number): CodePlace {
  return { file: FILE, line, column };
}
