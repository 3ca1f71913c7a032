/** Shows what a model got and gave: each part with its author, the body as JSON, and the reply. Loaded when it is opened. */
import type { PromptView } from '@goondan/cli/studio';
import { useState } from 'react';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { counted } from '../text/counted.ts';
import { LongText } from '../text/long-text.tsx';

interface PromptDetailsProps {
  readonly workspaceId: string;
  readonly turnId: string;
  /** The key of the model call. */
  readonly effect: string;
}

export function PromptDetails({ workspaceId, turnId, effect }: PromptDetailsProps) {
  const [isOpen, setOpen] = useState(false);
  const address = isOpen ? addressOf(workspaceId, 'prompt', { id: turnId, effect }) : undefined;
  const { value, error } = useQuery<PromptView>(address);
  return (
    <details className="prompt" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Prompt</summary>
      {isOpen && error !== undefined && value === undefined && <Problem error={error} />}
      {isOpen && value !== undefined && <PromptParts prompt={value} />}
    </details>
  );
}

/** Shows a prompt that is loaded. */
export function PromptParts({ prompt }: { readonly prompt: PromptView }) {
  const { isExact, problems, provider, model, modelRef, modelAuthor, earlier, messages, tools, params } = prompt;
  const { schema, body, reply, error } = prompt;
  return (
    <div className="prompt-parts">
      <p className={isExact ? 'quiet' : 'bad'}>
        {isExact
          ? `Exact: the body below is the one that ${prompt.package ?? 'the model'} got.`
          : `Not exact: ${problems.join('; ')}.`}
      </p>
      <p className="quiet">
        {[modelRef, [provider, model].filter(Boolean).join(' '), `chosen by ${modelAuthor}`].join(' · ')}
      </p>
      {earlier > 0 && <p className="quiet">{counted(earlier, 'earlier message')} not shown</p>}
      {messages.map(({ role, author, ...shown }, index) => (
        <LongText key={index} title={`${role} · ${author}`} {...shown} />
      ))}
      {tools.map(({ name, author, ...shown }) => (
        <LongText key={name} title={`tool ${name} · ${author}`} {...shown} />
      ))}
      {params.map(({ name, author, ...shown }, index) => (
        <LongText key={`${name} ${index}`} title={`param ${name} · ${author}`} {...shown} />
      ))}
      {schema !== undefined && (
        <LongText title={`schema of the answer · ${schema.author}`} text={schema.text} characters={schema.characters} />
      )}
      {reply !== undefined && (
        <LongText
          title={`reply · ${reply.finishReason} · ${reply.tokens.input} → ${reply.tokens.output} tokens`}
          text={reply.text}
          characters={reply.characters}
        />
      )}
      {error !== undefined && <pre className="bad">{error}</pre>}
      {body !== undefined && (
        <details className="prompt-body">
          <summary>Body</summary>
          <LongText title={isExact ? 'As it was sent' : 'As it would be sent now'} {...body} />
        </details>
      )}
    </div>
  );
}
