/** Answers in PostgreSQL. The commit of the turn inserts them; the commit of the caller's turn removes them. */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { Answers, LeftAnswer } from '@goondan/runtime/history';
import { answerOf, decodeReply } from '@goondan/runtime/internal';
import { keyOf, queryOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';

export function postgresAnswers(context: StoreContext): Answers {
  const query = queryOf(context);
  return {
    async left(instance: AgentAddress): Promise<readonly LeftAnswer[]> {
      const rows = await query<{ event_id: string; reply: string }>(LEFT, keyOf(context, instance));
      return rows.flatMap(({ event_id: eventId, reply }) => {
        const read = decodeReply(JSON.parse(reply) as JsonValue);
        return read ? [answerOf(eventId, read)] : [];
      });
    },
    async acknowledge(instance, eventId) {
      await query(ACKNOWLEDGE, [...keyOf(context, instance), eventId]);
    },
  };
}

const LEFT = `select event_id, reply from gdn_answer where ${SAME_INSTANCE} order by seq`;
const ACKNOWLEDGE = `delete from gdn_answer where ${SAME_INSTANCE} and event_id = $4`;
