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
  const place = { file: FILE, line: 1, column: 1 };
  return { values: {}, findings: [warningAt(place, 'E_ENV_FILE', `${FILE} ${problem}; it was left out.`)] };
}

/** Parses `NAME=value` lines, with `export`, quotes and comments as in shells. Variables in values are not expanded. */
export function parseEnvironmentFile(text: string) {
  const values: Record<string, string> = {};
  const findings: Finding[] = [];
  for (const [index, line] of text
    .replace(/^\u{FEFF}/u, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const place = { file: FILE, line: index + 1, column: 1 + line.search(/\S/) };
    const [, name = '', written = ''] = /^\s*(?:export\s+)?([^\s=]+)\s*=\s*(.*)$/.exec(line) ?? [];
    const value = readValue(written);
    if (!variableNamePattern.test(name) || value === undefined) {
      findings.push(name !== '' && value === undefined ? quoteProblem(place) : lineProblem(place));
    } else if (refused.test(name)) {
      findings.push(warningAt(place, 'E_ENV_REFUSED', `${FILE} must not set ${name}; it was left out.`));
    } else values[name] = value;
  }
  return { values, findings };
}

function lineProblem(place: CodePlace): Finding {
  return warningAt(place, 'E_ENV_FILE', `Line ${place.line} of ${FILE} is not NAME=value; it was ignored.`);
}

function quoteProblem(place: CodePlace): Finding {
  const message = `In line ${place.line} of ${FILE}, the quoted value does not end with the line; the line was ignored.`;
  return warningAt(place, 'E_ENV_FILE', message, 'Write the value on one line, and \\n for each line break: "a\\nb".');
}

/** Returns `undefined` when a quote is not closed, or when text follows the closing quote. */
function readValue(written: string): string | undefined {
  const [quote = ''] = written;
  if (quote !== '"' && quote !== "'") {
    const comment = written.search(/[ \t]#/);
    return (comment < 0 ? written : written.slice(0, comment)).trim();
  }
  const quoted = quote === '"' ? /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/ : /^'([^']*)'\s*(?:#.*)?$/;
  const [, inner] = quoted.exec(written) ?? [];
  if (inner === undefined || quote === "'") return inner;
  return inner.replaceAll(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
