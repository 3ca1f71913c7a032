// Offers skills as tools and injects the active one.
import { createSystemMessage, type ExtensionApi } from '@goondan/types';

const scanSkillDirs = async () => ['brew-tea', 'bake-bread'];
const readSkillMd = async (name: string) => `# How to ${name}`;

// verbatim from seed 002, 8.1
export function register(api: ExtensionApi): void {
  // 스킬 카탈로그를 동적 도구로 등록
  api.tools.register(
    {
      name: 'skills__list',
      description: 'List all available skills',
      parameters: { type: 'object', properties: {} },
    },
    async (ctx, input) => {
      const skills = await scanSkillDirs();
      return { skills };
    }
  );

  api.tools.register(
    {
      name: 'skills__open',
      description: 'Open a skill to read its SKILL.md content',
      parameters: {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      },
    },
    async (ctx, input) => {
      const content = await readSkillMd(String(input.name));
      return { content };
    }
  );

  // step 미들웨어로 활성 스킬 컨텍스트 주입
  api.pipeline.register('step', async (ctx) => {
    const state = await api.state.get();
    const activeSkill = (state as Record<string, unknown>)?.activeSkill;

    if (activeSkill) {
      ctx.emitMessageEvent({
        type: 'append',
        message: createSystemMessage(`Active skill context: ${activeSkill}`),
      });
    }

    return ctx.next();
  });
}
// end of verbatim
