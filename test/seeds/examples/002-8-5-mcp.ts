// Offers the tools of an MCP server.
import type { ExtensionApi } from '@goondan/types';

/** What the server was started with and asked for. */
export const asked: unknown[] = [];
export const connection = { open: true };

const connectToMcpServer = (options: unknown) => {
  asked.push(options);
  return {
    tools: [
      {
        name: 'list_issues',
        description: 'Lists the issues of a repository.',
        inputSchema: { type: 'object', properties: { repo: { type: 'string' } }, required: ['repo'] },
      },
      { name: 'whoami', description: 'Says who is asking.', inputSchema: { type: 'object', properties: {} } },
    ],
    callTool: async (name: string, input: unknown) => {
      asked.push({ name, input });
      return { issues: [1, 2] };
    },
    disconnect: () => void (connection.open = false),
  };
};

// verbatim from seed 002, 8.5
export function register(api: ExtensionApi): void {
  // MCP 서버 연결 (Extension 자체 관리)
  const mcpClient = connectToMcpServer({
    command: ['npx', '-y', '@modelcontextprotocol/server-github'],
  });

  // MCP 도구를 동적 등록
  for (const tool of mcpClient.tools) {
    api.tools.register(
      {
        name: `mcp-github__${tool.name}`,
        description: tool.description,
        parameters: tool.inputSchema,
      },
      async (ctx, input) => {
        return await mcpClient.callTool(tool.name, input);
      }
    );
  }

  // 프로세스 종료 시 MCP 연결 정리
  process.on('beforeExit', () => {
    mcpClient.disconnect();
  });
}
// end of verbatim
