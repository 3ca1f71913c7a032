/**
 * Deliberate mistakes outside the journal, as patches. Each mutant removes one safety check, and names the test that
 * must fail on it. The mutants of the journal are in `packages/runtime/src/workspace/simulation/mutants`.
 */
export interface RuleMutant {
  readonly name: string;
  /** The path of the file to patch, relative to the repository. */
  readonly file: string;
  /** The text to replace; it occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The path of the test file, relative to the repository. */
  readonly testFile: string;
  /** A part of the title of the test that fails. */
  readonly title: string;
}

export const ruleMutants: readonly RuleMutant[] = [
  {
    name: 'run a tool call if one of its approvals fits the arguments',
    file: 'packages/runtime/src/agent/tool-call/call-approvals.ts',
    find: 'this.#bindings.every(',
    replace: 'this.#bindings.some(',
    testFile: 'packages/runtime/src/agent/tool-call/call-approvals.test.ts',
    title: 'two approvals of different arguments approve neither',
  },
  {
    name: 'take a posted body to another origin after a 308',
    file: 'packages/base/src/tools/http-fetch/next-hop.ts',
    find: 'if (isSameOrigin) return',
    replace: 'if (isSameOrigin || statusCode === 308) return',
    testFile: 'packages/base/src/tools/http-fetch/next-hop.test.ts',
    title: 'a 308 never takes a posted body to another origin',
  },
  {
    name: 'keep the headers on the way from https to http of the same host',
    file: 'packages/base/src/tools/http-fetch/next-hop.ts',
    find: 'url.origin === hop.url.origin',
    replace: 'url.host === hop.url.host',
    testFile: 'packages/base/src/tools/http-fetch/next-hop.test.ts',
    title: 'leaves the headers behind on the way to http from https',
  },
  {
    name: 'accept a committed answer from an instance that was not asked',
    file: 'packages/runtime/src/orchestrator/calls/call-broker.ts',
    find: "if (call?.kind !== 'request' || !isSameAddress(call.callee, address)) return [];",
    replace: "if (call?.kind !== 'request') return [];",
    testFile: 'packages/runtime/src/orchestrator/calls/call-broker.test.ts',
    title: 'a committed answer ends the request only if it comes from the instance that was asked',
  },
  {
    name: 'keep the whole swarm from starting when one inbox cannot be read',
    file: 'packages/runtime/src/orchestrator/router/read-pending-inputs.ts',
    find: 'inputs.push({ address, entries: [], problem: storeProblem(error) });',
    replace: 'throw error;',
    testFile: 'packages/runtime/src/orchestrator/router/read-pending-inputs.test.ts',
    title: 'an inbox that cannot be read is returned with its problem, and the others with their events',
  },
  {
    name: 'lose the event of a turn whose process crashes',
    file: 'packages/runtime/src/orchestrator/supervision/lose-process.ts',
    find: 'state: { ...state, queue: [crashed, ...others] },',
    replace: 'state: { ...state, queue: others },',
    testFile: 'packages/runtime/src/orchestrator/supervision/instance-machine.test.ts',
    title: 'R-03 a crash during a turn sends the same event to the next process',
  },
  {
    name: 'run a tool that a layer removed from the catalog',
    file: 'packages/runtime/src/agent/tool-call/check-tool-call.ts',
    find: '(step === undefined || step.catalog.has(toolName))',
    replace: 'true',
    testFile: 'packages/runtime/src/agent/tool-call/run-tool-call.test.ts',
    title: 'R-05 because a layer removed it from the catalog gives an error result',
  },
  {
    name: 'write to an inbox after the workspace was lost',
    file: 'packages/runtime/src/workspace/inbox/inbox-log.ts',
    find: 'const { fence } = this.place;',
    replace: 'const fence = undefined as (() => void) | undefined;',
    testFile: 'packages/runtime/src/workspace/inbox/inbox.test.ts',
    title: 'an event that was written while the workspace was lost is not accepted',
  },
  {
    name: 'acknowledge a part of a group write that failed',
    file: 'packages/runtime/src/workspace/inbox/inbox-log.ts',
    find: 'for (const { reject } of batch) reject(error);',
    replace: 'for (const { resolve } of batch) resolve({ n: 0, segment: this.number, bytes: 0 });',
    testFile: 'packages/runtime/src/workspace/inbox/group-commit.test.ts',
    title: 'if a write fails, none of its events is accepted, and the next ones are',
  },
  {
    name: 'take damage of the inbox for a torn end',
    file: 'packages/runtime/src/workspace/inbox/read-segment.ts',
    find: 'return isTorn(',
    replace: 'return true || isTorn(',
    testFile: 'packages/runtime/src/workspace/inbox/read-segment.test.ts',
    title: 'names the damaged line, also the last one, and reads the others',
  },
  {
    name: 'use the numbers of a deleted conversation again',
    file: 'packages/runtime/src/workspace/inbox/instance-inbox.ts',
    find: 'this.take(seq);',
    replace: 'this.take(seq), (this.last = 0);',
    testFile: 'packages/runtime/src/workspace/inbox/group-commit.test.ts',
    title: 'numbers are not used again after a deletion, and the deleted input does not come back',
  },
  {
    name: 'lose cancel marks when a segment of the inbox is removed',
    file: 'packages/runtime/src/workspace/inbox/compact-inbox.ts',
    find: 'const lines = box.sorted().filter(([, { segment }]) => numbers.has(segment));',
    replace:
      "const lines = box.sorted().filter(([, each]) => numbers.has(each.segment) && !('cancels' in each.payload));",
    testFile: 'packages/runtime/src/workspace/inbox/cancel-mark.test.ts',
    title: 'is copied with its event when their segment is removed',
  },
  {
    name: 'forget damage of the inbox when it was moved twice',
    file: 'packages/runtime/src/workspace/inbox/instance-inbox.ts',
    find: "if (from.has(place.segment)) this.damaged.set(seq, { segment, path: '' });",
    replace: 'if (from.has(place.segment)) this.damaged.set(seq, place);',
    testFile: 'packages/runtime/src/workspace/inbox/survive-compaction.test.ts',
    title: 'a damaged line is reported after any number of compactions and restarts',
  },
  {
    name: 'forget a missing line of the inbox when its segment is removed',
    file: 'packages/runtime/src/workspace/inbox/read-inbox-log.ts',
    find: 'contents.loseMissing();',
    replace: '',
    testFile: 'packages/runtime/src/workspace/inbox/survive-compaction.test.ts',
    title: 'a line without a name that the table of its segment reports stays reported when the segment is removed',
  },
  {
    name: 'look for the head of an inbox segment in its first bytes only',
    file: 'packages/runtime/src/workspace/inbox/read-inbox-log.ts',
    find: 'readSegment(bytes.subarray(0, end), {',
    replace: 'readSegment(bytes.subarray(0, Math.min(end, 512)), {',
    testFile: 'packages/runtime/src/workspace/inbox/survive-compaction.test.ts',
    title: 'damage concerns one conversation although another has a key of 1024 characters',
  },
  {
    name: 'take input out of the inbox although its commit could not be synced',
    file: 'packages/runtime/src/workspace/inbox/open-inbox.ts',
    find: `so its input stays: \${reason}\` });
      return;`,
    replace: `so its input stays: \${reason}\` });`,
    testFile: 'packages/runtime/src/workspace/inbox/survive-compaction.test.ts',
    title: 'an instance whose log cannot be synced (EIO) keeps its input, and all others go on',
  },
  {
    name: 'forget that a deletion may have happened before a crash',
    file: 'packages/runtime/src/workspace/inbox/open-inbox.ts',
    find: 'await inbox.#endDeletions();',
    replace: '',
    testFile: 'packages/runtime/src/workspace/journal/delete-instance.test.ts',
    title: 'the pending input of an instance is there after a crash exactly if the instance is',
  },
  {
    name: 'leave pending events behind when their segment of the inbox is removed',
    file: 'packages/runtime/src/workspace/inbox/compact-inbox.ts',
    find: 'moved.push(...still);',
    replace: '',
    testFile: 'packages/runtime/src/workspace/inbox/cancel-mark.test.ts',
    title: 'is copied with its event when their segment is removed',
  },
  {
    name: 'offer the resources of an MCP server that nobody asked for',
    file: 'packages/base/src/extensions/mcp/shared-tools.ts',
    find: '...(resources && server.resources ?',
    replace: '...(server.resources ?',
    testFile: 'packages/base/src/extensions/mcp/shared-tools.test.ts',
    title: 'B-06 only features that are configured and that the server supports become tools',
  },
  {
    name: 'give each step layer its own copy of the tool catalog',
    file: 'packages/runtime/src/agent/tool/tool-catalog.ts',
    find: 'return this.changed;\n  }',
    replace: 'return structuredClone(this.changed);\n  }',
    testFile: 'packages/runtime/src/agent/pipeline/agent-chains.test.ts',
    title: 'P-07 mutated: every inner layer and the model call see the change',
  },
  {
    name: 'run the inside of a layer again at its second next()',
    file: 'packages/runtime/src/agent/pipeline/onion.ts',
    find: "if (this.innerState !== 'none') {",
    replace: "if (this.innerState === 'running') {",
    testFile: 'packages/runtime/src/agent/pipeline/onion.test.ts',
    title: 'P-10 the second call itself is rejected with the code',
  },
  {
    name: 'call the tools of extensions without the toolCall layers',
    file: 'packages/runtime/src/agent/tool-call/run-tool-call.ts',
    find: 'const given = await runChain',
    replace: 'const given = agent.tools.get(toolName)?.extension ? await invokeTool(turn, call) : await runChain',
    testFile: 'packages/runtime/src/agent/pipeline/complete-mediation.test.ts',
    title: 'P-19 to a declared tool',
  },
  {
    name: 'accept a message event after the end of its turn',
    file: 'packages/runtime/src/agent/conversation/conversation.ts',
    find: 'if (this.ended) throw endedError(author);',
    replace: 'if (this.ended && author === undefined) throw endedError(author);',
    testFile: 'packages/runtime/src/agent/conversation/conversation.test.ts',
    title: 'M-12 every event after the end of the turn is refused',
  },
  {
    name: 'take the auth of a call from its frame',
    file: 'packages/runtime/src/orchestrator/calls/stamp-event.ts',
    find: 'const { auth, isSampled } = during;',
    replace: 'const { isSampled } = during; const { auth } = frame.event;',
    testFile: 'packages/runtime/src/orchestrator/calls/call-broker.test.ts',
    title: 'A-09 takes auth from the running turn',
  },
  {
    name: 'v010: sort functions of old extensions by the order of registration only',
    file: 'packages/v010/src/entries.ts',
    find: 'one.priority - other.priority',
    replace: '0 * (one.priority - other.priority)',
    testFile: 'packages/v010/src/pipeline-order.test.ts',
    title: 'L-04 run in the order of 003 §11, with the priorities',
  },
  {
    name: 'v010: let the runtime decide about a retry although a function looked at the error',
    file: 'packages/v010/src/layers.ts',
    find: 'shouldRetry: false, retryDelayMs: known',
    replace: 'shouldRetry: retryable === true, retryDelayMs: known',
    testFile: 'packages/v010/src/llm-error.test.ts',
    title: 'L-04 without a change of shouldRetry, the error ends the turn',
  },
];
