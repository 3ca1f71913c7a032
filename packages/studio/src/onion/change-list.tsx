import type { LayerRecord } from '@goondan/cli/studio';
import { showJson, showLines } from '../text/show-text.ts';

/** Shows each change as a diff: before and after. */
export function ChangeList({ title, changes }: { readonly title: string; readonly changes: LayerRecord['changed'] }) {
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

/**
 * Formats JSON on several lines. A record contains JSON on one line; if it was long, it was cut, and is returned
 * unchanged.
 */
function readable(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? showLines(value) : showJson(value);
  } catch {
    return showLines(text);
  }
}
