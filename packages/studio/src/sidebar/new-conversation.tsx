import type { WorkspaceView } from '@goondan/cli/studio';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import type { GoTo } from '../route/use-route.ts';

interface NewConversationProps {
  readonly view: WorkspaceView;
  readonly goTo: GoTo;
}

/**
 * A form for a new conversation. The conversation exists only after its first message; until then it is only a name.
 */
export function NewConversation({ view, goTo }: NewConversationProps) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <NameForm view={view} goTo={goTo} close={() => setOpen(false)} />;
  return (
    <button type="button" className="line sidebar-item new-conversation" onClick={() => setOpen(true)}>
      + New conversation
    </button>
  );
}

function NameForm({ view, goTo, close }: NewConversationProps & { readonly close: () => void }) {
  // Selects the element that gets the focus when the form closes: the button after a cancel, or the text field of the
  // new conversation.
  const [next, setNext] = useState('button.new-conversation');
  const box = useBorrowedFocus<HTMLFormElement>(next);
  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [agent, key] = [form.get('agent'), form.get('key')];
    if (typeof agent !== 'string' || typeof key !== 'string' || key.trim() === '') return;
    setNext('.composer textarea');
    goTo({ workspaceId: view.workspaceId, agent, instanceKey: key.trim() });
    close();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Here Escape only closes the form, so no other listener gets the key.
    event.stopPropagation();
    close();
  };
  return (
    <form ref={box} className="new-conversation" aria-label="New conversation" onSubmit={open} onKeyDown={press}>
      <select name="agent" aria-label="Agent" defaultValue={view.entryAgent}>
        {view.agents.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <input
        name="key"
        aria-label="Key of the conversation"
        placeholder="its key, e.g. ann"
        autoFocus
        required
        maxLength={200}
      />
      <div className="form-answers">
        <button type="submit">Open</button>
        <button type="button" className="plain" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
