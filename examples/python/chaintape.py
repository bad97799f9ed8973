"""Chaintape from Python: REST with the standard library, streams with `websockets`.

Every swap of a pair is delivered once, across lost connections and restarts: the cursor is stored after each swap.

    pip install websockets
    URL=http://127.0.0.1:8080 KEY=ctk_... PAIR=0x...-base python3 chaintape.py
"""

import asyncio
import json
import os
import random
import urllib.error
import urllib.request

import websockets


class ApiError(Exception):
    """A refused request; `code` is stable, see docs/errors.md."""

    def __init__(self, problem, retry_after):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.code = problem.get("code")
        self.retry_after = retry_after


class Gap(Exception):
    """Swaps after the cursor are not retained any more: read them over REST, then start again without a cursor."""


class Client:
    def __init__(self, url, key):
        self.url = url.rstrip("/")
        self.key = key

    def get(self, path, **query):
        """One REST request; decimals stay text, as they are exact."""
        text = "&".join(f"{name}={value}" for name, value in query.items())
        request = urllib.request.Request(f"{self.url}{path}?{text}", headers={"X-API-KEY": self.key})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise ApiError(json.load(error), error.headers.get("Retry-After")) from None

    def history(self, pair_id, limit=100):
        """The latest swaps, oldest first, and the cursor after them."""
        page = self.get(f"/v2/txs/{pair_id}", limit=limit)
        return list(reversed(page["txs"])), page["cursor"]

    async def trades(self, pair_id, cursor=None):
        """Yields (kind, value, cursor): kind is `swap`, or `retracted` with the ids that a reorg removed."""
        delay = 0.5
        while True:
            try:
                async for item in self._connection(pair_id, cursor):
                    delay = 0.5
                    cursor = item[2]
                    if item[0] != "acknowledged":
                        yield item
            except (OSError, asyncio.TimeoutError, websockets.exceptions.WebSocketException) as error:
                if getattr(error, "code", None) in (4401, 4403):
                    raise
            # Random, so that not all clients return at the same moment.
            await asyncio.sleep(delay * random.uniform(0.5, 1))
            delay = min(15, delay * 2)

    async def _connection(self, pair_id, cursor):
        pair, chain = pair_id.rsplit("-", 1)
        options = {"reorg": True, **({"cursor": True} if cursor is None else {"from": cursor})}
        async with websockets.connect(f"{self.url.replace('http', 'ws', 1)}/ws") as socket:
            await socket.send(request(0, "auth", [self.key]))
            await socket.send(request(1, "subscribe", ["tx", pair, chain, options]))
            expected = 1
            async for text in socket:
                message = json.loads(text)
                if message.get("method") == "shutdown":
                    await asyncio.sleep(message["params"][0]["reconnect_after_ms"] / 1000)
                    return
                if "error" in message:
                    # Too many messages, or an internal error: both pass.
                    if message["error"]["code"] in (-32004, -32603):
                        return
                    raise (Gap if message["error"]["code"] == -32005 else RuntimeError)(message["error"]["message"])
                result = message["result"]
                if message["id"] == 0:
                    continue
                if result.get("action") == "subscribe":
                    if result.get("recovered") is False:
                        raise Gap(result["reason"]["message"])
                    yield "acknowledged", None, result["cursor"]
                    continue
                if message["seq"] != expected:
                    return
                expected += 1
                kind, value = ("swap", result["tx"]) if "tx" in result else ("retracted", result["ids"])
                yield kind, value, message["cursor"]


def request(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def read_cursor(path):
    try:
        with open(path, encoding="utf8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def store_cursor(path, cursor):
    with open(f"{path}.new", "w", encoding="utf8") as file:
        file.write(cursor)
    os.replace(f"{path}.new", path)


async def main():
    client = Client(os.environ.get("URL", "http://127.0.0.1:8080"), os.environ["KEY"])
    pair_id, path = os.environ["PAIR"], os.environ.get("CURSOR_FILE", "cursor.txt")
    cursor = read_cursor(path)
    if cursor is None:
        swaps, cursor = client.history(pair_id)
        for swap in swaps:
            print(swap["id"], swap["amount_usd"], flush=True)
        store_cursor(path, cursor)
    async for kind, value, cursor in client.trades(pair_id, cursor):
        if kind == "swap":
            print(value["id"], value["amount_usd"], flush=True)
        else:
            print("retracted", *value, flush=True)
        # With a database, write the cursor in the transaction that writes the data.
        store_cursor(path, cursor)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
