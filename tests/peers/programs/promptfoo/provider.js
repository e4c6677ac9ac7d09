// A model by rule: what it says follows from its name and the variables alone.
class Scripted {
  constructor(options) {
    this.name = options.config.name;
    this.label = options.label;
  }
  id() {
    return 'scripted';
  }
  async callApi(prompt, context) {
    const { answer, kind } = context.vars;
    if (kind === 'error' && this.name === 'two') return { error: 'HTTP 500: broke' };
    if (kind === 'throw') throw new Error('socket closed');
    if (kind === 'silent') return { tokenUsage: { total: 10, prompt: 10, completion: 0 } };
    if (kind === 'cached') return { output: 'kept', cached: true, latencyMs: 1, tokenUsage: { total: 15, cached: 15 } };
    const output = kind === 'object' ? { city: answer, half: '\ud835' } : `${this.name}: ${answer}`;
    return { output, tokenUsage: { total: 15, prompt: 10, completion: 5 }, cost: 0.001, finishReason: 'stop' };
  }
}
module.exports = Scripted;
