import { expect, test } from 'bun:test';
import { encodeFrame } from '../records/frame.ts';
import { cutOpenTurn } from './cut-open-turn.ts';

const head = { formatVersion: 2, agentName: 'a', instanceKey: 'k', createdAt: '' };
const first = encodeFrame({ seq: 1, durable: 0, at: 0, head });
const record = encodeFrame({ seq: 2, durable: 1, at: 0, turn: 'turn-1' }, ['{}']);
const commit = encodeFrame({ seq: 3, durable: 2, at: 0, turn: 'turn-1', commit: { version: 1 } });
const open = encodeFrame({ seq: 4, durable: 3, at: 0, turn: 'turn-2' }, ['{}']);
const room = new Uint8Array(1);

test('the frames after the last commit are removed', () => {
  const whole = Buffer.concat([first, record, commit, open, room]);
  expect(cutOpenTurn(whole)).toEqual(Buffer.concat([first, record, commit, room]));
  expect(cutOpenTurn(cutOpenTurn(whole))).toEqual(Buffer.concat([first, record, commit, room]));
});

test('without a commit, the first frame stays', () => {
  expect(cutOpenTurn(Buffer.concat([first, record, new Uint8Array(100)]))).toEqual(Buffer.concat([first, room]));
});
