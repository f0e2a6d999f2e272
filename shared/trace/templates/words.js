// What the page says. The English sentence stands where it is said, and is the key to its Chinese.
const chinese = {
  __proto__: null,
  "moving through the run": "在运行里走动",
  "each move goes on by one": "每次走一",
  "statement": "语句",
  "event": "事件",
  "message": "消息",
  "turn": "轮",
  "sentence": "句",
  "each piece": "逐字",
  "stop at each piece of a streamed text": "流式文本的每一小块都停一下",
  "to the beginning": "到开头",
  "one back": "后退一步",
  "one on": "前进一步",
  "to the end": "到结尾",
  "play": "播放",
  "pause": "暂停",
  "where in the run": "运行到哪里",
  "in the other language": "换成另一种语言",
  "what is shown": "显示哪一格",
  "source": "源码",
  "diagram": "控制流",
  "what never ran is pale": "没跑过的是淡的",
  "the loop never began": "循环根本没有开始",
  "no loop in this source": "源码里没有循环",
  "screen": "屏幕",
  "history": "历史",
  "what people see": "人看到的",
  "what the model sees": "模型看到的",
  "as shipped": "原样",
  "broken: {name}": "改坏：{name}",
  "broken": "改坏",
  "recording {number}": "录制 {number}",
  "sentence {run}": "第 {run} 句",
  "sentence {run}, turn {turn}": "第 {run} 句 · 第 {turn} 轮",
  "messages: {count}": "{count} 条消息",
  "on disk": "在磁盘上",
  "in memory only": "只在内存里",
  "the session file": "会话文件",
  "pale: not in the history": "淡的：不在历史里",
  "lines on disk: {count}": "磁盘上 {count} 行",
  "ended": "已结束",
  "waits for the other": "在等另一边",
  "error": "出错",
  "result without a call": "没有对应调用的结果",
  "no result": "没有结果",
  "no result yet": "还没有结果",
  "result: {number}": "结果：{number}",
  "first difference": "第一处不同",
  "the tools it is told of": "告诉模型的工具",
  "asked on {key}: {rule}": "匹配串 {key}：{rule}",
  "rule {number} (the fallback)": "规则 {number}（兜底）",
  "rule {number} ({match})": "规则 {number}（{match}）",
  "no rule": "没有规则",
  "not asked yet in this turn": "这一轮还没问过模型",
  "no tool wanted": "模型不再要工具：正常结束",
  "the model failed": "模型出错",
  "no last event": "流结束了却没有收尾事件",
  "turns used up": "轮数用完",
  "stopped after its tools": "工具做完就停了",
  "interrupted": "被打断",
  "an exception left the loop": "异常从循环里抛出来了",
  "an exception outside the loop": "循环之外出了异常",
  "predict": "先猜",
  "what broke": "坏在哪里",
  "first predict, then see": "先猜，再看",
  "what broke, and why": "坏在哪里，为什么",
  "The two runs part at once. This was changed:": "两次运行一开始就分开。改的是：",
  "Soon the two runs part. This was changed:": "接下来两次运行会分开。改的是：",
  "The two runs do not part. This was changed, and nothing that happened came past it:": "两次运行没有分开。改的是下面这里，而这次没有什么经过它：",
  "What was changed:": "改的是：",
  "What is played: {setting}": "演的是：{setting}",
  "your answer": "你的答案",
  "see what happens": "看看会怎样",
  "What happened:": "实际是：",
  "you: {said}": "你：{said}",
  "right": "猜对了",
  "not quite": "没猜中",
  "Why it matters:": "为什么要紧：",
  "The first message that differs:": "第一条不同的消息：",
  "The first line on the screen that differs:": "屏幕上第一行不同：",
  "no message": "没有这条消息",
  "no line": "没有这一行",
  "What a real provider would say of the last history:": "换成真的服务商，会怎么看最后的历史：",
  "every call has its result": "每个调用都有结果",
  "refused": "拒收",
  "accepted": "接受",
  "call {id} has no result": "调用 {id} 没有结果",
  "result {id} ({tool}) has no call": "结果 {id}（{tool}）没有对应的调用",
  "and {count} more": "还有 {count} 个",
  "go to where they part": "去分开的地方",
  "close": "关闭",
};

// A page that was opened from the disk may have no storage.
const storage = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* Then it is forgotten. */ } },
};
const wanted = storage.get("language") ?? navigator.language;
let inChinese = wanted.toLowerCase().startsWith("zh");

function say(english, values = {}) {
  const text = inChinese ? chinese[english] ?? english : english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// Says all that does not change from move to move, in the language of the page.
function sayAll() {
  document.documentElement.lang = inChinese ? "zh-CN" : "en";
  for (const part of document.querySelectorAll("[data-say]")) part.textContent = say(part.dataset.say);
  for (const part of document.querySelectorAll("[data-label]")) part.setAttribute("aria-label", say(part.dataset.label));
  for (const part of document.querySelectorAll("[data-title]")) part.title = say(part.dataset.title);
}

// Text is always set as text and never as markup: some of it comes from a model, a tool or a file.
function element(name, className = "", text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
