import type { WorkspaceView } from '@goondan/cli/studio';
import { type FormEvent, useState } from 'react';
import type { GoTo } from '../route/use-route.ts';

/** A conversation begins with its first message: until then there is only its name. */
export function NewConversation({ view, goTo }: { readonly view: WorkspaceView; readonly goTo: GoTo }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) {
    return (
      <button type="button" className="sidebar-item new-conversation" onClick={() => setOpen(true)}>
        + New conversation
      </button>
    );
  }

  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [agent, key] = [form.get('agent'), form.get('key')];
    if (typeof agent !== 'string' || typeof key !== 'string' || key.trim() === '') return;
    setOpen(false);
    goTo({ workspaceId: view.workspaceId, agent, key: key.trim() });
  };
  return (
    <form className="new-conversation" onSubmit={open} onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}>
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
        maxLength={200}
      />
      <button type="submit">Open</button>
    </form>
  );
}
