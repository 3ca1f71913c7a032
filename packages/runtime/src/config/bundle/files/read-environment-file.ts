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
  const findings: Finding[] = [...placesWithoutName(text)].map(notAnAssignment);
  const places = placesByName(text);
  for (const [name, value = ''] of Object.entries(process.getBuiltinModule('node:util').parseEnv(text))) {
    const place = places.get(name) ?? placeIn(1, 1);
    if (!variableNamePattern.test(name)) {
      // The name is not shown: it may be a part of a secret with line breaks and without quotes.
      findings.push(notAnAssignment(place));
    } else if (refused.test(name)) {
      findings.push(warningAt(place, 'E_ENV_FILE', `${FILE} must not set ${name}; it was left out.`));
    } else values[name] = value;
  }
  return { values, findings };
}

function notAnAssignment(place: CodePlace): Finding {
  return warningAt(place, 'E_ENV_FILE', `Line ${place.line} of ${FILE} is not NAME=value; it was ignored.`);
}

/** Finds the lines that are neither empty nor a comment, and have no name or no `=`. The parser skips them silently. */
function* placesWithoutName(text: string): Generator<CodePlace> {
  const rest = text.replaceAll(/\r\n?/g, '\n');
  let line = 1;
  for (let start = 0; start < rest.length;) {
    const end = endOfEntry(rest, start);
    const [first = '', ...others] = rest.slice(start, end).split('\n');
    if (/^\s*(?:=|[^\s#=][^=]*$)/.test(first)) yield placeIn(line, 1 + first.search(/\S/));
    line += 1 + others.length;
    start = end + 1;
  }
}

/** Returns the end of the line, or of the last line of a value in quotes. */
function endOfEntry(text: string, start: number): number {
  const endOfLine = (from: number) => {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end;
  };
  const line = text.slice(start, endOfLine(start));
  const [opening = '', quote] = /^\s*[^\s#=][^=]*=\s*(["'`])/.exec(line) ?? [];
  const closing = quote === undefined ? -1 : text.indexOf(quote, start + opening.length);
  return endOfLine(closing < 0 ? start : closing);
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
