/**
 * Describes the failed tests of a run, for the end of its output.
 *
 * Bun's own output does not show which error belongs to which test: with `--parallel`, the errors of four files and the
 * `(fail)` lines arrive in any order. Bun's JUnit report has the error of each test. Errors outside all tests, such as
 * in a file that does not load, are missing in this report and are read from Bun's output.
 */
const mostFailures = 20;
const mostLines = 80;
const mostCharacters = 2_000;

/** Returns the failures of a JUnit report: a title, the error, and the file and name of the test. */
export function readFailures(report) {
  const cases = report.matchAll(/<testcase ([^>]*[^/])>\s*<failure ([^>]*?)(?:\/>|>([^<]*)<\/failure>)/g);
  return [...cases].map(([, test, failure, error]) => {
    const { name, classname, file, line } = readAttributes(test);
    // Bun lists the innermost group first.
    const groups = classname === '' ? [] : classname.split(' > ').toReversed();
    const place = line === undefined ? file : `${file}:${line}`;
    const text = error === undefined ? readAttributes(failure).message : readText(error);
    return { title: `${place} ${[...groups, name].join(' > ')}`, text, file, name };
  });
}

/** Returns a function that takes Bun's output line by line and collects the errors outside all tests in `errors`. */
export function collectLooseErrors(errors) {
  let open;
  return (line) => {
    // oxlint-disable-next-line no-control-regex -- colours are control characters
    const plain = line.replaceAll(/\x1b\[[\d;]*m/g, '');
    if (plain === '# Unhandled error between tests') open = [];
    else if (open === undefined) return;
    else if (!/^-+$/.test(plain)) open.push(line);
    else if (open.length > 0) {
      errors.push({ title: 'An error outside all tests', text: open.join('\n') });
      open = undefined;
    }
  };
}

/** Returns the text for the end of the output; empty when there are no failures. `seed` is that of the run. */
export function describeFailures(failures, seed) {
  if (failures.length === 0) return '';
  const shown = failures.slice(0, mostFailures);
  const rest = failures.length - shown.length;
  return [
    `\nFailures: ${failures.length}`,
    ...shown.map((each) => `\n(fail) ${each.title}\n${shorten(each.text)}${repeatOf(each, seed)}`),
    ...(rest > 0 ? [`\n… and ${rest} more failures`] : []),
    '\n',
  ].join('\n');
}

/** Returns a line with the command that repeats the test; empty for an error outside all tests. */
function repeatOf({ file, name }, seed) {
  if (file === undefined) return '';
  const samples = process.env['GOONDAN_SAMPLES'];
  const variables = `${samples === undefined ? '' : `GOONDAN_SAMPLES=${samples} `}GOONDAN_SEED=${seed}`;
  // Bun takes a regular expression. A dot stands for each character that means something to it, or to a shell, and a title
  // may have several lines.
  const title = name
    .replaceAll(/[^\p{L}\p{N}\s,:-]/gu, (found) => '.'.repeat(found.length))
    .replaceAll(/\s*\n\s*/g, '\\s+');
  return `\nRepeat: ${variables} npm test -- ${file}${name === '(unnamed)' ? '' : ` -t '${title}$'`}`;
}

/** Keeps the start and the end of a long text: the message is at the start, the stack at the end. */
function shorten(text) {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line));
  if (lines.length <= mostLines) return lines.join('\n');
  const tail = 20;
  const left = lines.length - mostLines + 1;
  const head = mostLines - tail - 1;
  return [...lines.slice(0, head), `… ${left} lines left out …`, ...lines.slice(-tail)].join('\n');
}

function readAttributes(text) {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, readText(value)]));
}

const characters = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function readText(text) {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code === undefined ? (characters[name] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
