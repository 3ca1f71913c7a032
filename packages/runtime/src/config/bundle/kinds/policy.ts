/** `policy` of an Agent and of a Swarm: the limits, as `turn-policy.ts` and `swarm-policy.ts` explain them. */
import { z } from 'zod';
import { count } from './fields.ts';

const turnLimits = {
  maxStepsPerTurn: count(1).optional().describe('Then the turn ends with max_steps. Default 32.'),
  maxStepRetries: count(0).optional().describe('Tries after the first, for one step. Default 3.'),
  retryBaseMs: count(0).optional().describe('The wait before the first retry; it doubles each time. Default 1000.'),
  retryMaxMs: count(0).optional().describe('The longest wait before a retry. Default 30000.'),
  requestTimeoutMs: count(1).optional().describe('For a request to another agent. Default 15000.'),
  toolTimeoutMs: count(1).optional().describe('One tool call. Default 120000.'),
  modelTimeoutMs: count(1).optional().describe('One model call in all. Default 600000.'),
  turnTimeoutMs: count(1).optional().describe('One turn. Default 1800000.'),
  crashesBeforeDeadLetter: count(1).optional().describe('Crashes on one event before it is put aside. Default 3.'),
  unwindMs: count(0).optional().describe("How long a cancelled turn's layers may take. Default 2000."),
  maxTokensPerTurn: count(1).optional().describe('Input and output tokens of all steps. No limit when absent.'),
  errorMessageLimit: count(1).optional().describe("Characters of a tool's error that the model reads. Default 1000."),
};

export const turnPolicy = z.strictObject(turnLimits).describe('Limits of its turns; they win over those of the swarm.');

export const swarmPolicy = z
  .strictObject({
    ...turnLimits,
    maxProcesses: count(1).optional().describe('Agent processes at a time. Default 64.'),
    startTimeoutMs: count(1).optional().describe('From the start of a process to its readiness. Default 60000.'),
    spares: count(0).max(1).optional().describe('Processes that are up before anybody needs them: 0 or 1. Default 1.'),
    restart: z
      .strictObject({
        quickCrashes: count(0).optional().describe('Crashes after which a restart waits. Default 5.'),
        baseMs: count(0).optional().describe('The first wait; it doubles. Default 1000.'),
        maxMs: count(0).optional().describe('The longest wait. Default 300000.'),
        healthyMs: count(0).optional().describe('So long without a crash, and all is forgotten. Default 600000.'),
      })
      .optional(),
    idle: z
      .strictObject({
        hibernateAfterSeconds: z
          .number()
          .min(0)
          .nullable()
          .optional()
          .describe('null: only to make room. Default 300.'),
      })
      .optional(),
    heartbeat: z
      .strictObject({
        everyMs: count(1).optional().describe('Default 5000.'),
        missedPings: count(1).optional().describe('Default 3.'),
      })
      .optional(),
    shutdown: z.strictObject({ gracePeriodSeconds: z.number().min(0).optional().describe('Default 30.') }).optional(),
  })
  .describe('The limits of the swarm.');
