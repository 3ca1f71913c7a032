import type { LayerRecord } from '@goondan/cli/studio';

interface ChangeListProps {
  readonly title: string;
  readonly changes: LayerRecord['changed'];
}

/** Each change as a diff: what was there, what is there now. */
export function ChangeList({ title, changes }: ChangeListProps) {
  if (changes.length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul className="changes">
        {changes.map(({ path, before, after }, index) => (
          <li key={`${path} ${index}`}>
            <code className="change-path">
              {path}
              {after === undefined ? ' removed' : before === undefined ? ' added' : ''}
            </code>
            {before !== undefined && <pre className="is-removed">{readable(before)}</pre>}
            {after !== undefined && <pre className="is-added">{readable(after)}</pre>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The records hold JSON on one line, cut where it is long; what is whole is easier to read on several. */
function readable(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}
