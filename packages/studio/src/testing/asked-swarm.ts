/**
 * For tests: a swarm in this process that only asks questions. It checks answers as a real swarm does, and keeps them in
 * `answers`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionReply, QuestionSummary } from '@goondan/runtime';
import {
  controlSocketPath,
  findReplyProblem,
  type GrantRevocation,
  type GrantSummary,
  systemSocketEnvironment,
} from '@goondan/runtime/control';
import { workspaceFolder } from '@goondan/runtime/internal';
import { serveControl } from '../../../runtime/src/orchestrator/control/serve-control.ts';
import { fakeControl, fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';

export interface AskedSwarm {
  readonly answers: readonly QuestionReply[];
  readonly revoked: readonly unknown[];
  ask(question: Partial<QuestionSummary> & Pick<QuestionSummary, 'id'>): void;
  /** Ends a question as if somebody else had answered it, and tells nobody. */
  answerElsewhere(id: string, by: string): void;
  /** Changes a question without telling anybody. */
  change(id: string, fields: Partial<QuestionSummary>): void;
  /** Withdraws a question. */
  forget(id: string): void;
  grant(grant: GrantSummary): void;
  /** Tells the watchers that the questions have changed. */
  tell(): void;
  close(): Promise<void>;
}

export async function serveAskedSwarm(stateRoot: string, workspaceId: string): Promise<AskedSwarm> {
  const folder = workspaceFolder(stateRoot, workspaceId);
  mkdirSync(join(folder, 'instances'), { recursive: true, mode: 0o700 });
  const open = new Map<string, QuestionSummary>();
  const ended = new Map<string, { readonly how: 'answered'; readonly by: string }>();
  const [answers, revoked]: [QuestionReply[], unknown[]] = [[], []];
  let grants: GrantSummary[] = [];
  const fake = fakeControl();
  const tell = () =>
    fake.tell({
      type: 'question',
      state: 'asked',
      at: { agent: 'helper', instanceKey: 'default' },
      question: fakeQuestion,
    });
  const swarm = {
    ...fake,
    deadLetters: async () => [],
    questions: async () => [...open.values()],
    grants: async () => grants,
    async answer(reply: QuestionReply) {
      const [question, end] = [open.get(reply.id), ended.get(reply.id)];
      const problem = findReplyProblem({ ...(question && { question }), ...(end && { ended: end }) }, reply);
      if (problem !== undefined) throw problem;
      answers.push(reply);
      open.delete(reply.id);
      ended.set(reply.id, { how: 'answered', by: reply.by });
      tell();
    },
    async revoke(request: GrantRevocation) {
      revoked.push(request);
      grants = grants.filter(({ id }) => id !== request.id);
    },
  };
  const server = await serveControl(swarm, {
    path: controlSocketPath(folder, workspaceId, systemSocketEnvironment()),
  });
  return {
    answers,
    revoked,
    ask(question) {
      open.set(question.id, { ...fakeQuestion, ...question });
      tell();
    },
    answerElsewhere(id, by) {
      ended.set(id, { how: 'answered', by });
    },
    change(id, fields) {
      open.set(id, { ...fakeQuestion, ...open.get(id), ...fields });
    },
    forget(id) {
      open.delete(id);
      tell();
    },
    grant: (grant) => void grants.push(grant),
    tell,
    close: () => server.close(),
  };
}
