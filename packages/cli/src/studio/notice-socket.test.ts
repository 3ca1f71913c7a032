import { describe, expect, test } from 'bun:test';
import { NoticeSocket, type PageSocket } from './notice-socket.ts';

/** Fakes a page; the test controls when it reads. */
function fakePage() {
  const sent: unknown[] = [];
  const page = {
    sent,
    reads: true,
    closedWith: undefined as readonly [number | undefined, string | undefined] | undefined,
    sendText(text: string) {
      sent.push(JSON.parse(text));
      return page.reads ? text.length : -1;
    },
    close(code?: number, reason?: string) {
      page.closedWith = [code, reason];
    },
  };
  const socket = new NoticeSocket(() => undefined);
  socket.opened(page satisfies PageSocket);
  return { page, socket };
}

describe('notices for a page', () => {
  test('arrive one by one, in order', () => {
    const { page, socket } = fakePage();
    socket.tell({ n: 1 }, 'delta');
    socket.tell({ n: 2 }, undefined);
    expect(page.sent).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('wait for a page that does not read; the oldest lossy ones are dropped, and the page is told how many', () => {
    const { page, socket } = fakePage();
    page.reads = false;
    socket.tell({ n: 'first' }, undefined);
    for (let n = 0; n < 1_500; n += 1) socket.tell({ n }, 'delta');
    socket.tell({ n: 'last' }, undefined);
    expect(page.sent).toEqual([{ n: 'first' }]);
    page.reads = true;
    socket.drained();
    expect(page.sent).toHaveLength(1 + 1 + 1_000 + 1);
    // Notice 0 was already being sent, so it was not dropped.
    expect(page.sent.slice(1, 4)).toEqual([{ n: 0 }, { type: 'dropped', count: 500 }, { n: 501 }]);
    expect(page.sent.at(-1)).toEqual({ n: 'last' });
  });

  test('stop when too many wait that must arrive, and the page gets the reason', () => {
    const { page, socket } = fakePage();
    page.reads = false;
    for (let n = 0; n < 300; n += 1) socket.tell({ n }, undefined);
    expect(page.closedWith).toEqual([1013, 'This page reads too slowly.']);
    expect(socket.left.aborted).toBe(true);
    socket.tell({ n: 'late' }, undefined);
    socket.drained();
    expect(page.sent).toEqual([{ n: 0 }]);
  });

  test('end when the page leaves', () => {
    const { page, socket } = fakePage();
    socket.closed();
    socket.tell({ n: 1 }, undefined);
    expect([page.sent, socket.left.aborted]).toEqual([[], true]);
  });
});
