// The strings of the page in English.

export default {
  'skip': 'Skip to content', 'navigation': 'Main', 'runs': 'Runs', 'inbox': 'Inbox', 'board': 'Board', 'machines': 'Machines',
  'keyboard': 'Keyboard shortcuts', 'other-language': '中文', 'theme': 'Light or dark', 'log-out': 'Log out', 'log-in': 'Log in', 'token': 'Token',
  'login-help': 'Open the link that `interlock serve` prints, or paste a token made with `interlock token add NAME`.',
  'role-viewer': 'viewer', 'role-agent': 'agent', 'role-operator': 'operator', 'role-admin': 'admin',
  'offline': 'The connection to the server is lost. The page connects again by itself and then catches up.',
  'unreachable': 'The server did not answer.', 'hint': 'Hint:', 'failed': 'That did not work', 'close': 'Close', 'loading': 'Loading …', 'show': 'Show',
  'no-page': 'There is no such page.', 'inbox-count': '{count} runs wait for a person',
  'sure': '{label}? Click again: {why}', 'viewer-only': 'Your role can only read runs.',
  'key-search': 'Search', 'key-rows': 'Move through records', 'key-zoom': 'Zoom the picture that has the focus', 'key-send': 'Send the form', 'key-close': 'Close a dialog',

  'phase': 'Phase', 'phase-active': 'active', 'phase-waiting': 'waiting', 'phase-paused': 'paused', 'phase-succeeded': 'succeeded', 'phase-incomplete': 'incomplete', 'phase-failed': 'failed', 'phase-aborted': 'aborted',
  'run': 'Run', 'machine': 'Machine', 'state': 'State', 'waits-for': 'Waits for', 'deadline': 'Deadline', 'changed': 'Changed', 'created': 'Created',
  'due-in': 'in {time}', 'due-ago': '{time} late', 'name-begins': 'Name begins with …', 'all-machines': 'All machines', 'older': 'Older', 'newest': 'Newest',
  'no-match': 'No run matches the filter.', 'no-runs': 'There are no runs yet.', 'start-one': 'Start one', 'start-run': 'Start a run',
  'waits-activity': 'an activity', 'waits-person': 'a person', 'waits-run': 'a child run', 'waits-timer': 'a timer',

  'inbox-empty': 'Nothing waits for a person.', 'waits-since': 'waiting for', 'asks-now': '{run} asks a question', 'answer': 'Answer', 'message': 'Message',
  'grant-title': 'Permission asked for', 'grant-once': 'Grant once', 'grant-hour': 'Grant for one hour', 'granted': '{run}: permission granted',
  'by-hand': '{activity} is left to a person. Report its result:', 'send-event': 'Send {event}', 'sent': '{run}: sent {event}', 'accepts-nothing': 'The run accepts no event now.',

  'required': 'required', 'optional': 'optional', 'choose': 'Choose …', 'kind': 'Kind', 'remove': 'Remove', 'add': 'Add', 'not-json': 'This is not JSON: {why}',
  'more': '{count} more', 'all-of-text': 'all {count} characters', 'more-lines': '{count} more lines; download the file to see them',

  'timeline': 'Records', 'moment': 'Record to show', 'record-n-of': 'record {n} of {last}', 'live': 'live', 'back-to-live': 'Back to live', 'fork-here': 'Fork from here',
  'fork-why': 'a new run starts from this record', 'forked': 'Forked as {run}', 'details': 'Details', 'data': 'Data', 'evidence': 'Evidence', 'totals': 'Time and cost', 'output': 'Output', 'children': 'Child runs',
  'child-of': 'child of', 'no-process': 'No process is running it', 'version-n': 'v{version}',
  'pause': 'Pause', 'resume': 'Resume', 'abort': 'Abort', 'abort-why': 'it ends the run', 'undo': 'Undo', 'grant': 'Grant', 'report': 'Report',
  'did-pause': '{run} is paused', 'did-resume': '{run} continues', 'did-abort': '{run} is aborted',
  'grant-about': 'Permits what policy would otherwise ask about, as `interlock grant` does.', 'scope': 'Scope', 'uses': 'Number of uses',
  'undo-title': 'Undo the file changes of {run}', 'nothing-to-undo': 'The run has changed no file.', 'undo-files': 'Files to restore', 'undo-commits': 'Commits to remove from their branch',
  'undo-conflicts': 'Changed by others since; they stay', 'undo-not-kept': 'Content was not stored; they stay', 'undo-branches': 'Branches that stay', 'undo-unknown': 'Records whose changes are unknown',
  'undo-rest': 'Undo the rest', 'undo-why': 'it changes files', 'undone': '{run}: {count} files restored',

  'reason': 'Reason', 'result': 'Result', 'by': 'By', 'activity': 'Activity', 'attempt': 'attempt {number}', 'guard': 'Guard', 'counters': 'Counters', 'n-of-max': '{n} of {max}',
  'judge': 'Judge', 'judge-of': 'judge {name}', 'confidence': '{percent} % confident', 'tokens': '{read} tokens read, {written} written', 'tokens-short': 'Tokens', 'refused': 'Not enabled', 'faults': 'Faults', 'log': 'Log',
  'unproved': 'Started unproved', 'not-taken': 'not accepted', 'no-move': 'No state changed.', 'start-of-run': 'start', 'files': '{count} files',
  'kind-created': 'created', 'kind-event': 'event', 'kind-attempt': 'activity started', 'kind-outcome': 'activity ended', 'kind-timer': 'timer', 'kind-paused': 'paused', 'kind-resumed': 'resumed', 'kind-note': 'note',
  'kind-granted': 'granted', 'kind-grant-used': 'grant used', 'kind-undone': 'undone', 'kind-left-to-a-person': 'left to a person', 'kind-aborted': 'aborted', 'kind-asked': 'asked', 'kind-not-answered': 'not answered',
  'context': 'Context', 'input': 'Input', 'activities': 'Activities', 'timers': 'Timers', 'no-data': 'The run has no data.', 'no-evidence': 'The run has no evidence yet.', 'no-output': 'No activity is running.',
  'time': 'Time', 'entered': 'Entered', 'cost': 'Cost', 'download': 'Download', 'load-all': 'Load all {size}', 'empty-file': 'The file is empty.', 'binary-file': 'The file is not text. Download it to look at it.',

  'picture': 'Picture of the machine', 'no-picture': 'There is no picture.', 'collapse': 'Collapse {state}', 'expand': 'Expand {state}', 'collapse-all': 'Collapse all states', 'expand-all': 'Expand all states', 'zoom-in': 'Zoom in', 'zoom-out': 'Zoom out', 'zoom-fit': 'Show all', 'find-state': 'Find a state …', 'found': '{count} found',
  'search': 'Search …', 'summary': 'Summary', 'version': 'Version', 'origin': 'Origin', 'start': 'Start', 'folder': 'Directory', 'proving': 'Proving …', 'proof': 'Proof', 'states-n': 'States ({count})', 'source': 'Source',
  'times-out': 'times out after {time}', 'always': 'always', 'proved': 'Proved', 'not-proved': 'Not proved', 'explored': '{count} configurations explored', 'per-input': 'Per input', 'per-run': 'Per run',
  'bound': 'at most {transitions} transitions, {activities} activities, {judgements} judgements', 'holds': 'holds: ', 'fails': 'fails: ', 'loops-to': '… and again from step {step}', 'from-start': 'First', 'back': 'Back', 'forward': 'Next',
  'start-machine': 'Start {machine}', 'picture-and-proof': 'Picture and proof', 'run-name': 'Name of the run', 'name-default': 'machine name and random letters', 'agent': 'Coding agent', 'default-agent': 'Default',
  'diff': 'Diff', 'diff-of': 'Changes of {run}', 'no-diff': 'The run has changed no file yet.', 'more-bytes': '{size} more are not shown.', 'agent-tokens': '{count} tokens of agents', 'n-tokens': '{count} tokens', 'spent': 'Cost and tokens so far',
  'children-spent': 'Cost and tokens of the runs that this run has started, not included above', 'and-children': '+ {spent} in child runs ({count})',
  'more-rows': '{count} more rows are in the report to download.',
  'all-by-phase': 'All machines, by phase',
};
