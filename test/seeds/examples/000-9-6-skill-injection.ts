// Adds the tools and the context of a skill to every step.
import { createSystemMessage, type ExtensionApi } from '@goondan/types';

const loadSkillTools = async () => [{ name: 'tea__brew', description: 'Brews tea.' }];
const getActiveSkillContext = async () => 'Tea is brewed at 80 degrees.';

export function register(api: ExtensionApi) {
// verbatim from seed 000, 9.6
api.pipeline.register('step', async (ctx) => {
  // 스킬 관련 도구를 catalog에 추가
  const skillTools = await loadSkillTools();
  ctx.toolCatalog = [...ctx.toolCatalog, ...skillTools];

  // 스킬 컨텍스트를 메시지로 주입
  const skillContext = await getActiveSkillContext();
  if (skillContext) {
    ctx.emitMessageEvent({
      type: 'append',
      message: createSystemMessage(skillContext),
    });
  }

  return ctx.next();
});
// end of verbatim
}
