import { showLines } from './show-text.ts';

/**
 * Shows a unified diff: added and removed lines have a colour, and every line its sign. Characters that cannot be seen are
 * written out, so that nobody approves a line that looks different from what it is.
 */
export function Diff({ text }: { readonly text: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  const head = lines.findIndex((_, index) => isHead(lines, index));
  return (
    <pre className="diff">
      {lines.map((line, index) => (
        // Lines never move, so their position identifies them.
        <span key={index} className={classOf(line, index, head)}>
          {`${showLines(line)}\n`}
        </span>
      ))}
    </pre>
  );
}

/** Returns true if two lines with the names of the files begin here. */
function isHead(lines: readonly string[], index: number): boolean {
  const [old = '', after = '', place = '@@'] = lines.slice(index, index + 3);
  return old.startsWith('--- ') && after.startsWith('+++ ') && place.startsWith('@@');
}

function classOf(line: string, index: number, head: number): string | undefined {
  if (index < head) return undefined;
  // A changed line can look like the name of a file, but it cannot come before the first place.
  if (head !== -1 && index < head + 2) return 'diff-file';
  if (line.startsWith('@@ ')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : undefined;
}
