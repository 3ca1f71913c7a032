import type { InstanceAddress, WorkspaceView } from '@goondan/cli/studio';
import { describeStatus } from '../sidebar/conversation-list.tsx';
import { describeParts } from '../text/describe-parts.ts';

interface ConversationHeadProps {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress;
  readonly isWorking: boolean;
  /** What the conversation waits for, in words. */
  readonly waitsFor: string | undefined;
}

export function ConversationHead({ view, shown: { agent, instanceKey }, isWorking, waitsFor }: ConversationHeadProps) {
  const instance = view.conversations.find((each) => each.agent === agent && each.instanceKey === instanceKey);
  const made = view.agents.find(({ name }) => name === agent);
  const status = statusOf();
  return (
    <header className="head">
      <div>
        <h1>
          {agent}{' '}
          {instanceKey !== 'default' && (
            <span className="key cut" title={instanceKey}>
              {instanceKey}
            </span>
          )}
        </h1>
        <p className="quiet">
          {[
            status,
            ...(made?.model === undefined ? [] : [made.model]),
            ...(made === undefined ? [] : describeParts(made)),
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

  function statusOf(): string {
    if (waitsFor !== undefined) return `waits for ${waitsFor}`;
    if (instance === undefined) return 'new';
    return isWorking ? 'working' : describeStatus(instance);
  }
}
