// An extension for v0.10, as it was: `compat: v010` in its resource loads it.
export function register(api) {
  const zones = { seoul: 'Asia/Seoul', paris: 'Europe/Paris' };

  api.pipelines.mutate('toolCall.pre', (ctx) => {
    const { zone } = ctx.toolCall.args;
    ctx.toolCall.args = { ...ctx.toolCall.args, zone: zones[String(zone).toLowerCase()] ?? zone };
    return ctx;
  });

  api.pipelines.mutate('turn.post', (ctx) => {
    const { turns = 0 } = api.getState();
    api.setState({ turns: turns + 1 });
    return ctx;
  });
}
