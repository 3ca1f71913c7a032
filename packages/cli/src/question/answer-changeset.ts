import type { Swarm } from '@goondan/runtime';

/** Answers the question about a changeset, for a person who typed the id of the changeset. Returns false if there is none. */
export async function answerChangeset(
  swarm: Pick<Swarm, 'questions' | 'approve' | 'deny'>,
  what: 'approve' | 'deny',
  changesetId: string,
  reply: { readonly by: string; readonly note?: string },
): Promise<boolean> {
  const question = (await swarm.questions()).find(
    ({ kind, args }) => kind === 'change' && args['changesetId'] === changesetId,
  );
  return question !== undefined && swarm[what]({ id: question.id, ...reply });
}
