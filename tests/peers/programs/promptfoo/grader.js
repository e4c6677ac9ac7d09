// A judge whose replies are named by the rubric, and mostly not what was asked for.
const REPLIES = {
  clear: '{"pass": true, "score": 0.8, "reason": "fine"}',
  prose: 'I think it is okay',
  contradicts: '{"reason": "meh", "pass": true, "score": 0}',
  reasonless: '{"pass": true, "score": 1}',
};
class Grader {
  id() {
    return 'scripted-grader';
  }
  async callApi(prompt) {
    const asked = Object.keys(REPLIES).find((name) => prompt.includes(`be ${name}`));
    return { output: REPLIES[asked], tokenUsage: { total: 30, prompt: 20, completion: 10 } };
  }
}
module.exports = Grader;
