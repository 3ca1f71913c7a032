import type { Clock } from '@goondan/runtime/internal';
import type { ChatScreen } from './screen/chat-screen.ts';

const TICK_MS = 1_000;

/** Updates the elapsed time on the screen, until the returned function is called. */
export function refreshEverySecond(screen: Pick<ChatScreen, 'refresh'>, clock: Clock): () => void {
  let callOff = clock.after(TICK_MS, next);
  return () => callOff();

  function next(): void {
    screen.refresh();
    callOff = clock.after(TICK_MS, next);
  }
}
