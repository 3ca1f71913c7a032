export const agentRunner = new URL('../../../../test/stand-in/tmp-runner.ts', import.meta.url).pathname;
export const connectorRunner = new URL('../connector/main.ts', import.meta.url).pathname;
