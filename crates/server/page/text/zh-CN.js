// The strings of the page in Chinese.

export default {
  'skip': '跳到内容', 'navigation': '主导航', 'runs': '运行', 'inbox': '待办', 'board': '看板', 'machines': '状态机',
  'keyboard': '键盘快捷键', 'other-language': 'English', 'theme': '浅色或深色', 'log-out': '退出', 'log-in': '登录', 'token': '令牌',
  'login-help': '打开 `interlock serve` 打印的链接，或粘贴用 `interlock token add NAME` 生成的令牌。',
  'role-viewer': '查看者', 'role-agent': '代理', 'role-operator': '操作员', 'role-admin': '管理员',
  'offline': '与服务器的连接已断开。页面会自动重连并补上缺失的内容。',
  'unreachable': '服务器没有响应。', 'hint': '提示：', 'failed': '操作失败', 'close': '关闭', 'loading': '加载中……', 'show': '显示',
  'no-page': '没有这个页面。', 'inbox-count': '{count} 个运行在等人处理',
  'sure': '{label}？再点一次：{why}', 'viewer-only': '你的角色只能查看运行。',
  'key-search': '搜索', 'key-rows': '在记录间移动', 'key-zoom': '缩放获得焦点的图', 'key-send': '发送表单', 'key-close': '关闭对话框',

  'phase': '阶段', 'phase-active': '进行中', 'phase-waiting': '等待', 'phase-paused': '已暂停', 'phase-succeeded': '成功', 'phase-incomplete': '不完整', 'phase-failed': '失败', 'phase-aborted': '已中止',
  'run': '运行', 'machine': '状态机', 'state': '状态', 'waits-for': '等待', 'deadline': '期限', 'changed': '变更', 'created': '创建',
  'due-in': '{time} 后', 'due-ago': '超时 {time}', 'name-begins': '名称开头……', 'all-machines': '所有状态机', 'older': '更早', 'newest': '最新',
  'no-match': '没有符合条件的运行。', 'no-runs': '还没有运行。', 'start-one': '启动一个', 'start-run': '启动运行',
  'waits-activity': '活动', 'waits-person': '人', 'waits-run': '子运行', 'waits-timer': '定时器',

  'inbox-empty': '没有需要人处理的事。', 'waits-since': '已等待', 'asks-now': '{run} 提出了问题', 'answer': '回答', 'message': '消息',
  'grant-title': '请求的权限', 'grant-once': '授权一次', 'grant-hour': '授权一小时', 'granted': '{run}：已授权',
  'by-hand': '{activity} 留给人处理。请报告结果：', 'send-event': '发送 {event}', 'sent': '{run}：已发送 {event}', 'accepts-nothing': '该运行现在不接受任何事件。',

  'required': '必填', 'optional': '可选', 'choose': '请选择……', 'kind': '类型', 'remove': '删除', 'add': '添加', 'not-json': '不是 JSON：{why}',
  'more': '还有 {count} 项', 'all-of-text': '全部 {count} 个字符', 'more-lines': '还有 {count} 行，下载文件查看',

  'timeline': '记录', 'moment': '要显示的记录', 'record-n-of': '第 {n} 条记录，共 {last} 条', 'live': '实时', 'back-to-live': '回到实时', 'fork-here': '从此处分叉',
  'fork-why': '从这条记录开始一个新运行', 'forked': '已分叉为 {run}', 'details': '详情', 'data': '数据', 'evidence': '证据', 'totals': '时间与费用', 'output': '输出', 'children': '子运行',
  'child-of': '上级：', 'no-process': '没有进程在执行它', 'version-n': 'v{version}',
  'pause': '暂停', 'resume': '继续', 'abort': '中止', 'abort-why': '这会结束运行', 'undo': '撤销', 'grant': '授权', 'report': '报告',
  'did-pause': '{run} 已暂停', 'did-resume': '{run} 已继续', 'did-abort': '{run} 已中止',
  'grant-about': '允许策略原本会询问的操作，与 `interlock grant` 相同。', 'scope': '范围', 'uses': '使用次数',
  'undo-title': '撤销 {run} 的文件更改', 'nothing-to-undo': '该运行没有更改文件。', 'undo-files': '将恢复的文件', 'undo-commits': '将从分支移除的提交',
  'undo-conflicts': '之后被他人更改，保持不变', 'undo-not-kept': '内容未保存，保持不变', 'undo-branches': '保留的分支', 'undo-unknown': '更改未知的记录',
  'undo-rest': '撤销其余部分', 'undo-why': '这会更改文件', 'undone': '{run}：已恢复 {count} 个文件',

  'reason': '原因', 'result': '结果', 'by': '操作者', 'activity': '活动', 'attempt': '第 {number} 次尝试', 'guard': '守卫', 'counters': '计数器', 'n-of-max': '{n} / {max}',
  'judge': '评判', 'judge-of': '评判 {name}', 'confidence': '置信度 {percent}%', 'tokens': '读 {read} 词元，写 {written} 词元', 'tokens-short': '词元', 'refused': '未启用', 'faults': '故障', 'log': '日志',
  'unproved': '未经证明启动', 'not-taken': '未被接受', 'no-move': '状态没有变化。', 'start-of-run': '开始', 'files': '{count} 个文件',
  'kind-created': '创建', 'kind-event': '事件', 'kind-attempt': '活动开始', 'kind-outcome': '活动结束', 'kind-timer': '定时器', 'kind-paused': '暂停', 'kind-resumed': '继续', 'kind-note': '备注',
  'kind-granted': '授权', 'kind-grant-used': '使用授权', 'kind-undone': '撤销', 'kind-left-to-a-person': '留给人处理', 'kind-aborted': '中止', 'kind-asked': '提问', 'kind-not-answered': '未回答',
  'context': '上下文', 'input': '输入', 'activities': '活动', 'timers': '定时器', 'no-data': '该运行没有数据。', 'no-evidence': '该运行还没有证据。', 'no-output': '没有正在运行的活动。',
  'time': '时间', 'entered': '进入', 'cost': '费用', 'download': '下载', 'load-all': '加载全部 {size}', 'empty-file': '文件为空。', 'binary-file': '文件不是文本，请下载查看。',

  'picture': '状态机图', 'no-picture': '没有图。', 'collapse': '折叠 {state}', 'expand': '展开 {state}', 'collapse-all': '折叠所有状态', 'expand-all': '展开所有状态', 'zoom-in': '放大', 'zoom-out': '缩小', 'zoom-fit': '显示全部', 'find-state': '查找状态……', 'found': '找到 {count} 个',
  'search': '搜索……', 'summary': '摘要', 'version': '版本', 'origin': '来源', 'start': '启动', 'folder': '目录', 'proving': '证明中……', 'proof': '证明', 'states-n': '状态（{count}）', 'source': '源文件',
  'times-out': '{time} 后超时', 'always': '总是', 'proved': '已证明', 'not-proved': '未证明', 'explored': '已探索 {count} 个配置', 'per-input': '每次输入', 'per-run': '每次运行',
  'bound': '最多 {transitions} 次转移、{activities} 个活动、{judgements} 次评判', 'holds': '成立：', 'fails': '不成立：', 'loops-to': '……然后从第 {step} 步重复', 'from-start': '第一步', 'back': '上一步', 'forward': '下一步',
  'start-machine': '启动 {machine}', 'picture-and-proof': '图与证明', 'run-name': '运行名称', 'name-default': '状态机名加随机字母', 'agent': '编码代理', 'default-agent': '默认',
  'diff': '差异', 'diff-of': '{run} 的更改', 'no-diff': '该运行还没有更改文件。', 'more-bytes': '还有 {size} 未显示。', 'agent-tokens': '代理 {count} 词元', 'n-tokens': '{count} 词元', 'spent': '目前的费用与词元',
  'children-spent': '此运行启动的子运行的费用和词元数，不含在上面的数字中', 'and-children': '另加子运行（{count} 个）：{spent}',
  'more-rows': '另有 {count} 行，请下载报告查看。',
  'all-by-phase': '所有状态机，按阶段',
};
