import { blame, type HistorySource, readConversationAt, readHistory } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';

export async function lookBack(store: HistorySource, address: AgentAddress) {
  // Reads the last ten events, the conversation after the second event, and the author of each message.
  const { last, turns } = await readHistory(store, address, { limit: 10 });
  const { messages: asItWas } = await readConversationAt(store, address, 2);
  const { messages: blamed } = await blame(store, address);
  return { last, turns, asItWas, blamed };
}
