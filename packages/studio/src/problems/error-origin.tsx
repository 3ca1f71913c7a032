/** Shows the place in the bundle's code where the error was thrown, and the stack on demand. */
import type { CodePlace } from '@goondan/cli/studio';

export function ErrorOrigin({
  place,
  stack,
}: {
  readonly place?: CodePlace | undefined;
  readonly stack?: string | undefined;
}) {
  if (place === undefined && stack === undefined) return null;
  return (
    <div className="error-origin">
      {place !== undefined && (
        <p>
          at <code className="error-place">{`${place.file}:${place.line}:${place.column}`}</code>
        </p>
      )}
      {stack !== undefined && (
        <details>
          <summary>Stack</summary>
          <pre>{stack}</pre>
        </details>
      )}
    </div>
  );
}
