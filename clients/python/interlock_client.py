"""A client of `interlock serve`, with the standard library alone.

    from interlock_client import Interlock
    server = Interlock("http://127.0.0.1:7420", token)
    run = server.start("approve", folder="/home/ada/x", input={"change": "faster"})
    for notice in server.events(run=run["run"]):
        print(notice["phase"], notice["place"])
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request


class Problem(Exception):
    """A request that failed: `status`, `code`, `message` and the next action, `hint`."""

    def __init__(self, status, code, message, hint=None):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.status, self.code, self.message, self.hint = status, code, message, hint


class Interlock:
    """A connection to a server."""

    def __init__(self, address="http://127.0.0.1:7420", token="", timeout=60):
        self.base, self.token, self.timeout = address.rstrip("/") + "/api/v1", token, timeout

    def machines(self, folder=None):
        """Lists the machines of a project directory."""
        return self._call("GET", "/machines", query={"folder": folder})["machines"]

    def check(self, machine, folder=None):
        """Proves a machine."""
        return self._call("GET", f"/machines/{_part(machine)}/check", query={"folder": folder})

    def runs(self, **query):
        """Yields runs, newest first, page by page: `machine`, `phase`, `prefix`, `limit`."""
        while True:
            page = self._call("GET", "/runs", query=query)
            yield from page["runs"]
            if page["next"] is None:
                return
            query["before"] = page["next"]

    def inbox(self, **query):
        """Lists the runs that wait for a person."""
        return self._call("GET", "/inbox", query=query)["items"]

    def start(self, machine, folder, input=None, name=None, agent=None):
        """Starts a run."""
        body = {"machine": machine, "folder": folder, "input": input or {}, "name": name, "agent": agent}
        return self._call("POST", "/runs", body={key: value for key, value in body.items() if value is not None})

    def show(self, run):
        """Shows a run: state, data, and the events that it accepts."""
        return self._call("GET", f"/runs/{_part(run)}")

    def trace(self, run, start=1, limit=200):
        """Lists the records of a run with their transitions."""
        return self._call("GET", f"/runs/{_part(run)}/trace", query={"from": start, "limit": limit})["records"]

    def diff(self, run):
        """Returns what has changed in the directory of a run, as a unified diff."""
        return self._call("GET", f"/runs/{_part(run)}/diff")["diff"]

    def send(self, run, event, data=None, id=None):
        """Sends an event. With an `id` it can be sent again after a lost answer."""
        body = {"event": event, "data": data or {}}
        return self._call("POST", f"/runs/{_part(run)}/events", body={**body, "id": id} if id else body)

    def pause(self, run):
        """Pauses a run."""
        return self._call("POST", f"/runs/{_part(run)}/pause")

    def resume(self, run):
        """Continues a run."""
        return self._call("POST", f"/runs/{_part(run)}/resume")

    def abort(self, run):
        """Sends the event that aborts a run."""
        return self._call("POST", f"/runs/{_part(run)}/abort")

    def fork(self, run, at, name=None):
        """Makes a new run from the first records of a run."""
        return self._call("POST", f"/runs/{_part(run)}/fork", body={"at": at, "name": name} if name else {"at": at})

    def undo(self, run, dry_run=True, **order):
        """Undoes file changes of a run, or lists what an undo would change."""
        return self._call("POST", f"/runs/{_part(run)}/undo", body={"dry_run": dry_run, **order})

    def evidence(self, run, hash):
        """Returns the content of an evidence file."""
        with self._open("GET", f"/runs/{_part(run)}/evidence/{_part(hash)}") as answer:
            return answer.read()

    def events(self, run=None, since=None, reconnect=True):
        """Yields a notice for each new record. After a lost connection it continues without a gap."""
        while True:
            try:
                query = {"run": run, "since": since}
                with self._open("GET", "/events", query=query) as stream:
                    for kind, number, data in _events(stream):
                        since = number if number is not None else since
                        if kind == "record":
                            yield data
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if not reconnect:
                    raise
            if not reconnect:
                return
            time.sleep(0.5)

    def _call(self, method, path, query=None, body=None):
        with self._open(method, path, query, body) as answer:
            return json.load(answer)

    def _open(self, method, path, query=None, body=None):
        known = {key: value for key, value in (query or {}).items() if value is not None}
        url = self.base + path + ("?" + urllib.parse.urlencode(known) if known else "")
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": f"Bearer {self.token}"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            raise _problem(error) from None


def _part(text):
    return urllib.parse.quote(str(text), safe="")


def _problem(error):
    try:
        told = json.load(error)["error"]
    except (ValueError, KeyError, TypeError):
        return Problem(error.code, "FAILED", f"the server answered {error.code}")
    return Problem(error.code, told["code"], told["message"], told.get("hint"))


def _events(stream):
    kind, number, data = "message", None, []
    for line in stream:
        line = line.decode().rstrip("\r\n")
        if not line:
            if data:
                yield kind, number, json.loads("\n".join(data))
            kind, number, data = "message", None, []
        elif line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("id:"):
            number = int(line[3:])
        elif line.startswith("data:"):
            data.append(line[5:].strip())
