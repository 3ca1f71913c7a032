import type { WorkspaceView } from '@goondan/cli/studio';
import type { LiveTurn } from '../live/live-turns.ts';
import { describeStatus } from '../sidebar/conversation-list.tsx';
import type { ShownConversation } from './shown-conversation.ts';

interface ConversationHeadProps {
  readonly view: WorkspaceView;
  readonly shown: ShownConversation;
  readonly live: LiveTurn | undefined;
}

export function ConversationHead({ view, shown: { agent, key }, live }: ConversationHeadProps) {
  const instance = view.conversations.find((each) => each.agent === agent && each.key === key);
  const made = view.agents.find(({ name }) => name === agent);
  const status = instance === undefined ? 'new' : live === undefined ? describeStatus(instance) : 'working';
  return (
    <header className="head">
      <div>
        <h1>
          {agent} <span className="key">{key}</span>
        </h1>
        <p className="quiet">
          {[
            status,
            ...(made?.model === undefined ? [] : [made.model]),
            ...(made === undefined ? [] : [counted(made.tools.length, 'tool'), counted(made.layers.length, 'layer')]),
          ].join(' · ')}
        </p>
      </div>
      {instance?.problem !== undefined && (
        <p className="head-problem" role="alert">
          {instance.problem}
        </p>
      )}
    </header>
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
