import type { SentInput } from './sent-inputs.ts';

/** Shows accepted inputs whose turn is running or queued. */
export function PendingInputs({ inputs }: { readonly inputs: readonly SentInput[] }) {
  return inputs.map(({ turnId, text }) => (
    <div key={turnId} className="turn is-pending">
      <article className="message is-user is-pending">
        <header>
          <span className="author">You</span>
        </header>
        <p className="text">{text}</p>
      </article>
    </div>
  ));
}
