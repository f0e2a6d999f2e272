// What the page says. The English sentence stands where it is said, and is the key to its Chinese.
const chinese = {
  __proto__: null,
  "Playground": "练习场",
  "Step": "步骤",
  "The files of the step": "这一步的文件",
  "Files": "文件",
  "What to do": "做什么",
  "Run": "运行",
  "Tasks": "任务",
  "Break it": "拆坏它",
  "My changes": "我的修改",
  "Play the demo": "运行 demo",
  "A sentence": "一句话",
  "Say it": "说",
  "Stop": "停止",
  "What people see": "人看到的",
  "What the model sees": "模型看到的",
  "Step through this run ↓": "逐条语句看这次运行 ↓",
  "Task": "任务",
  "Check": "检查",
  "Hint": "提示",
  "Solution": "参考答案",
  "What to break": "拆坏哪一处",
  "Download as a patch": "下载补丁",
  "Open a patch": "打开补丁",
  "Share": "分享",
  "Reset the step": "恢复这一步",
  "Take the reset back": "撤销恢复",
  "Take it back": "撤销",
  "The run, step by step": "逐条语句看这次运行",
  "Yes": "是",
  "No": "否",
  "Python loads: {percent} %": "正在加载 Python：{percent}%",
  "Python starts": "Python 正在启动",
  "Python is ready": "Python 就绪",
  "Python works": "正在运行",
  "Python cannot be loaded here: {reason}": "Python 在这里加载不了：{reason}",
  "It did not end after {seconds} seconds: a loop that never ends?": "{seconds} 秒还没有结束：是不是死循环？",
  "Stopped.": "已停止。",
  "Go to {file}, line {line}": "跳到 {file} 第 {line} 行",
  "… cut: it printed too much": "……输出太多，后面省略",
  "Every call has its result.": "每次调用都有结果。",
  "What is wrong with this history:": "这段历史哪里不对：",
  "Keep this output as {file}": "把这段输出存成 {file}",
  "Kept as {file}": "已存成 {file}",
  "hint {n} of {most}": "提示 {n}/{most}",
  "See the solution before yours is done?": "还没做完，现在就看参考答案吗？",
  "done": "已完成",
  "What is played: {setting}": "运行的是：{setting}",
  "the demo": "demo",
  "See what happens": "看看会怎样",
  "Your prediction": "你的预测",
  "right": "猜对了",
  "you: {said}": "你：{said}",
  "it: {answer}": "实际：{answer}",
  "Nothing of yours is changed: a copy was broken.": "你的文件没有变：拆坏的是一份副本。",
  "You have changed nothing yet.": "你还没有改过任何东西。",
  "Put {step} back as it was shipped? You can take that back.": "把 {step} 恢复原样吗？之后可以撤销。",
  "{step} is as it was shipped.": "{step} 已恢复原样。",
  "The address is copied. It holds your change; no server ever sees it.": "地址已复制。你的修改就在地址里，不会发给任何服务器。",
  "The address in the bar holds your change; no server ever sees it.": "地址栏里的地址就带着你的修改，不会发给任何服务器。",
  "This is too much for an address ({size} characters, {most} fit): download it as a patch.": "内容太多，地址放不下（{size} 个字符，最多 {most}）：请下载成补丁。",
  "This address holds no change that fits here: {reason}. Nothing was opened.": "这个地址里没有能用的修改：{reason}。什么都没有打开。",
  "This patch does not fit: {reason}. Nothing was changed.": "这个补丁对不上：{reason}。什么都没有改。",
  "it is damaged": "内容已损坏",
  "it is too large": "内容太大",
  "there is no such step": "没有这个步骤",
  "it names a file outside of the step": "它要改步骤之外的文件",
  "You see what somebody shared: {files}. Read it before you run it.": "这是别人分享的修改：{files}。运行前先读一读。",
  "The patch is in: {files}.": "补丁已打上：{files}。",
  "changed": "已修改",
  "The task is in the book's repository: {page}": "任务在：{page}",
};
const asked = new URLSearchParams(location.search).get("lang") ?? storage("language") ?? navigator.language;
export const language = asked.toLowerCase().startsWith("zh") ? "zh" : "en";

export function say(english, values = {}) {
  const text = (language === "zh" && chinese[english]) || english;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Read or write what the browser keeps for us; where it keeps nothing, all is forgotten. */
export function storage(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function speak(root) {
  document.documentElement.lang = language;
  for (const part of root.querySelectorAll("[data-say]")) part.textContent = say(part.dataset.say);
  for (const part of root.querySelectorAll("[data-label]")) part.setAttribute("aria-label", say(part.dataset.label));
}

/** Make an element; text is text, whatever stands in it. */
export function made(name, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
}
