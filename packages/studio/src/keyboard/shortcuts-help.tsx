import { useEffect, useRef } from 'react';
import { shortcuts } from './use-shortcuts.ts';

export function ShortcutsHelp({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="help"
      onClose={close}
      aria-labelledby="keys"
      onClick={({ target }) => target === dialog.current && dialog.current.close()}
    >
      <h2 id="keys">Keys</h2>
      <dl>
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet">In the onion: the arrow keys move from band to band; left closes one, right opens it.</p>
      {/* When the dialog closes, the browser restores the focus. */}
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
