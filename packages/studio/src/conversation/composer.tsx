import type { Acceptance, InstanceAddress, WorkspaceView } from '@goondan/cli/studio';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Problem } from '../problems/problem.tsx';
import { liveKey } from '../live/live-turns.ts';
import { addressOf, postTo } from '../server/ask-server.ts';
import { type ChosenFile, readChosen, toContent } from './chosen-files.ts';
import { keepDraft, readDraft } from './draft.ts';
import { sizeText } from './message-parts.ts';
import type { SentInput } from './sent-inputs.ts';
import type { Show } from '../route/route.ts';

interface ComposerProps {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress;
  readonly isNow: boolean;
  /** True while a turn of the conversation runs. */
  readonly isWorking: boolean;
  readonly show: Show;
  /** Called when the input was accepted and is on disk. */
  readonly onSent: (input: SentInput) => void;
}

/** The maximum length of an input; the server rejects longer texts. */
const LONGEST = 500_000;

export function Composer({ view, shown: { agent, instanceKey }, isNow, isWorking, show, onSent }: ComposerProps) {
  const draft = `${view.workspaceId} ${liveKey(agent, instanceKey)}`;
  const [text, setText] = useState(() => readDraft(draft));
  const box = useRef<HTMLTextAreaElement>(null);
  const [problem, setProblem] = useState<Error>();
  const [isSending, setSending] = useState(false);
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const picker = useRef<HTMLInputElement>(null);

  const write = (written: string) => {
    setText(written);
    keepDraft(draft, written);
  };
  const failed = (error: unknown) => setProblem(error instanceof Error ? error : new Error(String(error)));
  const add = (chosen: Iterable<File> | null | undefined) => {
    if (chosen) readChosen(chosen).then((more) => setFiles((before) => [...before, ...more]), failed);
  };
  const isEmpty = text.trim() === '' && files.length === 0;
  /** `when`: during a turn, the input is for this turn, or for the next one. */
  const send = async (when: 'now' | 'next') => {
    if (isEmpty || isSending) return;
    setSending(true);
    try {
      const said = { agent, instanceKey, input: text, ...(files.length > 0 && { content: toContent(files) }) };
      const asked = { ...said, ...(isWorking && when === 'now' && { now: true }) };
      const { turnId, eventId } = await postTo<Acceptance>(addressOf(view.workspaceId, 'send'), asked);
      onSent({ turnId, eventId, text });
      write('');
      setFiles([]);
      box.current?.focus();
      setProblem(undefined);
      if (!isNow) show({ at: undefined });
    } catch (error) {
      // After a failure, the text stays in the field.
      failed(error);
    } finally {
      setSending(false);
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send(event.altKey ? 'next' : 'now');
  };

  if (!view.isRunning) {
    return (
      <footer className="composer is-closed">
        <p>
          The swarm does not run: this is what it has said so far.{' '}
          {view.startCommand !== undefined && (
            <>
              Start it with <code>{view.startCommand}</code>
            </>
          )}
        </p>
      </footer>
    );
  }
  return (
    <footer
      className="composer"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer.files);
      }}
      onPaste={({ clipboardData }) => add(clipboardData.files)}
    >
      {problem !== undefined && <Problem error={problem} />}
      {files.length > 0 && (
        <ul className="chosen">
          {files.map(({ id, name, size }) => (
            <li key={id}>
              📎 {name}, {sizeText(size)}{' '}
              <button
                type="button"
                className="link"
                aria-label={`Remove ${name}`}
                onClick={() => setFiles((before) => before.filter((each) => each.id !== id))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="composer-line">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to send"
          onChange={({ target }) => {
            add(target.files);
            target.value = '';
          }}
        />
        <button
          type="button"
          className="link"
          aria-label="Add files"
          title="Add files"
          onClick={() => picker.current?.click()}
        >
          📎
        </button>
        <textarea
          ref={box}
          value={text}
          rows={1}
          maxLength={LONGEST}
          placeholder={`Message ${agent}`}
          aria-label={`Message ${agent}`}
          onChange={({ target }) => write(target.value)}
          onKeyDown={press}
        />
        {isWorking && (
          <button
            type="button"
            title="Send it as the next turn (Alt-Enter)"
            disabled={isEmpty || isSending}
            onClick={() => void send('next')}
          >
            Next turn
          </button>
        )}
        <button
          type="button"
          className="primary"
          title={isWorking ? 'Send it to the running turn, before its next step (Enter)' : 'Send it (Enter)'}
          disabled={isEmpty || isSending}
          onClick={() => void send('now')}
        >
          {isWorking ? 'Send now' : 'Send'}
        </button>
      </div>
    </footer>
  );
}
