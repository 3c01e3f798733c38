// Errors in Chinese: of the API and of the wire, which a run shows, and of the page's own requests.

const CHINESE = [
  [/the object has been modified/, "409 冲突（Conflict）：对象已被修改，需要基于最新版本重试"],
  [/too old resource version: (\S+) \((\S+)\)/, "410 Gone：版本 $1 太旧，现在最早只能从 $2 开始"],
  [/the tour refused this request: (\w+)/, "本次运行中的故障让 API Server 拒绝了这个请求：$1"],
  [/this handler was told to fail/, "本次运行中的故障让事件处理器抛出异常"],
  [/this worker was told to fail/, "本次运行中的故障让 Worker 抛出异常"],
  [/Unexpected watch close/, "Watch 不到一秒就关闭，其间没有收到任何事件"],
  [/connection refused/, "连接被拒绝（connection refused）"],
  [/connection reset/, "连接被重置（connection reset）"],
  [/i\/o timeout|timed out/, "读取超时（i/o timeout）"],
  [/already exists/, "409 对象已经存在（AlreadyExists）"],
  [/not found/, "404 对象不存在（NotFound）"],
  [/open the address that the program printed/, "没有访问权限：请打开程序打印出来的地址，其中带有令牌"],
  [/the static edition has no such run/, "静态版没有收录这一种运行；运行 clientgo tour 可以自由操作"],
  [/^the tour failed: (.*)/, "导览自身出错：$1"],
  [/at most 100 decisions/, "操作太多了，请先撤销一些"],
  [/there is no such|there is nothing here|no hop happens there/, "没有找到请求的内容"],
  [/The program does not answer any more/, "程序没有响应。"],
];

// An error as it is said in a language. A program's own errors stay as the program writes them.
export function errorIn(language, text) {
  if (language !== "zh" || !text) return text;
  for (const [pattern, words] of CHINESE) {
    const found = pattern.exec(text);
    if (found) return words.replace(/\$(\d)/g, (_, number) => found[number]);
  }
  return text;
}
