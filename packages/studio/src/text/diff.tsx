/** Shows a unified diff: added and removed lines have a colour, and every line its sign. */
export function Diff({ text }: { readonly text: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <pre className="diff">
      {lines.map((line, index) => (
        // Lines never move, so their position identifies them.
        <span key={index} className={classOf(line)}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}

function classOf(line: string): string | undefined {
  if (/^(?:---|\+\+\+) /.test(line)) return 'diff-file';
  if (line.startsWith('@@ ')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : undefined;
}
