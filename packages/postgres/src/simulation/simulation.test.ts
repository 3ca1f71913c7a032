import { afterAll, expect, test } from '../testing/with-postgres.ts';
import { samples, sampleStep } from '../../../../test/samples.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { simulateActs } from './simulate-acts.ts';
import { simulateOrder } from './simulate-order.ts';
import { describeViolation, simulatePoints } from './simulate-points.ts';
import { simulateSteering } from './simulate-steering.ts';

// `npm run torture -- cluster` tries ten thousand points, and all mutants.
const POINTS = samples(300, 15);
const SEEDS = samples(30, 15);

const made = await makeTestDatabase();

afterAll(() => made.drop());

test('S-02 a node that ends, is cut off or is late at any statement loses nothing and does nothing twice', async () => {
  const asked = { address: made.address, from: 0, points: POINTS, pointsOfSeed: POINTS / SEEDS };
  const { points, violations } = await simulatePoints(asked);
  expect(violations.map(describeViolation)).toEqual([]);
  expect(points).toBe(POINTS);
}, 120_000);

test('S-02 a turn, a deletion, a fork, a reset, and input and files of a connection are whole after a fault at any statement', async () => {
  const { points, problems } = await simulateActs(made.address, { step: sampleStep === 1 ? 1 : 3 });
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(sampleStep === 1 ? 140 : 50);
}, 60_000);

test('S-03 input that two nodes accept at the same time is handled once and in order after a fault at any statement', async () => {
  const { points, problems } = await simulateOrder(made.address, { step: sampleStep === 1 ? 7 : 53 });
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(10);
}, 120_000);

test('Y-08 S-03 inputs that turns take are kept once after a fault at any statement, or a kill of the agent at any call', async () => {
  const asked = { seeds: sampleStep === 1 ? [0, 1, 2, 3, 4, 5] : [0], step: sampleStep === 1 ? 3 : 41 };
  const { points, problems } = await simulateSteering(made.address, asked);
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(5);
}, 120_000);
