/** Writes the chosen parts of `ctx.runtime` as text for the model. */
import type { RuntimeView } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';

export type Section = keyof RuntimeView;

const writers: { readonly [Name in Section]: (view: RuntimeView) => string } = {
  agent: ({ agent: { name, instanceKey, description } }) =>
    `You are the agent ${quote(name)}, instance ${quote(instanceKey)}.${description === undefined ? '' : ` ${short(description)}`}`,
  model: ({ model: { ref, provider, name } }) =>
    name === undefined ? `Your model is ${ref}.` : `Your model is ${quote(name)} of ${provider} (${ref}).`,
  tools: ({ tools }) => writeList('Your tools', tools.map(describe)),
  agents: ({ agents }) => writeList('The other agents that you may ask', agents.map(describe)),
  connections: ({ connections }) =>
    writeList(
      'Connections that send you events',
      connections.map(({ name, connector }) => `${short(name)} (connector ${short(connector)})`),
    ),
  inboundEvent: ({ inboundEvent: { type, source, createdAt, replyTo } }) => {
    const waits = replyTo === undefined ? '' : ' The sender waits for your answer.';
    return `This turn handles the event ${quote(type)} of ${source.kind} ${quote(source.name)}, sent at ${createdAt}.${waits}`;
  },
};

/** Writes these sections in the given order, with an empty line between them. */
export function writeContext(view: RuntimeView, sections: readonly Section[]): string {
  return sections.map((section) => writers[section](view)).join('\n\n');
}

/** The maximum number of entries of a list. The text says how many more there are. */
const MOST_LISTED = 200;
/** The maximum number of characters of a name or a description. */
const LONGEST = 300;

function writeList(title: string, entries: readonly string[]): string {
  if (entries.length === 0) return `${title}: none.`;
  const listed = entries.slice(0, MOST_LISTED).map((entry) => `- ${entry}`);
  const more = entries.length - listed.length;
  return [`${title}:`, ...listed, ...(more > 0 ? [`- … and ${more} more`] : [])].join('\n');
}

function describe({ name, description = '' }: { readonly name: string; readonly description?: string }): string {
  return description === '' ? short(name) : `${short(name)}: ${short(description)}`;
}

/** Puts a text on one line, so that the text cannot look like another part of the message. */
function short(text: string): string {
  return cleanText(text.replaceAll(/\s+/g, ' ').trim(), LONGEST);
}

/** Quotes a text, with its own quotes escaped, so that the text cannot end before its closing quote. */
function quote(text: string): string {
  return JSON.stringify(short(text));
}
