import { blame, type HistorySource, readConversationAt, readHistory } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';

export async function lookBack(store: HistorySource, address: AgentAddress) {
  // The last ten events, the conversation as it was after the second, and who put each message there.
  const { last, turns } = await readHistory(store, address, { limit: 10 });
  const { messages: asItWas } = await readConversationAt(store, address, 2);
  const { messages: blamed } = await blame(store, address);
  return { last, turns, asItWas, blamed };
}
