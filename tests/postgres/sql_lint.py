#!/usr/bin/env python3
"""Holds the SQL of src/postgres to what PostgreSQL has in common with the distributed engines that speak its protocol.   sql_lint.py REPOSITORY

All texts stand in sql.hpp; nothing there may be of a kind that such engines lack; the conversation leads every key, and every statement
outside of "Across conversations" and "Set-up" is about one conversation of one tenant.
"""

import pathlib
import re
import sys

LACKED = {
    "advisory locks": r"advisory",
    "notifications": r"\b(UN)?LISTEN\b|\bNOTIFY\b",
    "sequences": r"SERIAL\b|\bSEQUENCE\b|\bnextval\b|\bIDENTITY\b",
    "places of rows": r"\bctid\b|\bxmin\b|\bxmax\b|\btableoid\b",
    "functions, triggers and rules": r"plpgsql|\bFUNCTION\b|\bTRIGGER\b|\bRULE\b|\bPROCEDURE\b|\bDO\s+\$",
    "deferrable and exclusion constraints": r"\bDEFERR|\bEXCLUDE\b",
    "foreign keys": r"\bREFERENCES\b|\bFOREIGN\b",
    "locks of tables": r"\bLOCK\s+TABLE\b|\bLOCK\s+undertext",
    "temporary and unlogged tables, cursors, savepoints": r"\bTEMP|\bUNLOGGED\b|\bCURSOR\b|\bSAVEPOINT\b",
    "two-phase commit by hand": r"\bPREPARE\s+TRANSACTION\b",
    "outer joins, where row security binds the role": r"\b(LEFT|RIGHT|FULL)\s+(OUTER\s+)?JOIN\b",
    "subselects within VALUES": r"\bVALUES\s*\([^;]*\bSELECT\b",
    "functions that are not immutable, in what a statement writes": r"\bconvert_(to|from)\b",
    "types of one engine": r"\bjsonb?\b|\bxml\b|\bhstore\b|\bmoney\b|\boid\b|\btsvector\b",
}
VERB = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|TRUNCATE|VACUUM|SET|WITH)\b [A-Za-z*(]"
)
ONE_CONVERSATION = re.compile(
    r"conversation_id = \$1 AND (\w+\.)?tenant = \$2|VALUES \(\$1, \$2,|SELECT conversation_id, tenant,"
)
KEY = re.compile(r"PRIMARY KEY \(conversation_id, tenant[,)]")


def statements(text):
    """[(part of the file, name, SQL)]"""
    part, found = "", []
    for match in re.finditer(
        r'^// (Across conversations|Set-up|[A-Z][a-z ]+)\.|\{\s*"(\w*)",\s*R"sql\((.*?)\)sql"',
        text,
        re.M | re.S,
    ):
        if match[1]:
            part = match[1]
        else:
            found.append((part, match[2], match[3].strip()))
    return found


def faults_of(part, name, sql):
    faults = [
        f"{name}: {what}" for what, pattern in LACKED.items() if re.search(pattern, sql, re.I)
    ]
    if sql.startswith("CREATE TABLE undertext_") and not KEY.search(sql):
        faults.append(f"{sql.split()[2]}: its key does not begin with conversation_id, tenant")
    if sql.startswith("CREATE UNIQUE INDEX") and "(conversation_id, tenant," not in sql:
        faults.append(
            f"{sql.split()[3]}: a unique index that does not begin with conversation_id, tenant"
        )
    if "undertext_" in sql and part not in ("Across conversations", "Set-up"):
        # Each mention of a table needs a condition of its own.
        mentions = len(re.findall(r"(?:FROM|INTO|UPDATE|JOIN)\s+undertext_", sql))
        if len(ONE_CONVERSATION.findall(sql)) < mentions:
            faults.append(f"{name}: a table without conversation_id = $1 AND tenant = $2")
    return faults


def main(root):
    room = root / "src/postgres"
    found = statements((room / "sql.hpp").read_text())
    faults = [fault for statement in found for fault in faults_of(*statement)]
    if len(found) < 40:
        faults.append(f"sql.hpp: only {len(found)} statements were read; has its form changed?")
    tables = {
        sql.split()[2] for _, _, sql in found if sql.startswith("CREATE TABLE undertext_")
    } - {"undertext_conversation"}
    distributed = set(
        re.findall(
            r'"(undertext_\w+)"',
            re.search(
                r"distributed_like_conversation\[\] = \{(.*?)\};",
                (room / "sql.hpp").read_text(),
                re.S,
            )[1],
        )
    )
    faults += [
        f"{table}: made or distributed, but not both" for table in sorted(tables ^ distributed)
    ]
    for file in sorted(room.iterdir()):
        if file.name == "sql.hpp":
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', file.read_text()):
            if VERB.search(literal):
                faults.append(f"{file.name}: SQL outside of sql.hpp: {literal}")
    # That it can fail.
    bad = [
        "SELECT pg_advisory_lock(1)",
        "CREATE TABLE undertext_x (tenant text, PRIMARY KEY (tenant))",
        "LISTEN x",
        "CREATE TABLE undertext_x (id bigserial)",
        "SELECT 1 FROM undertext_message WHERE conversation_id = $1",
        "DELETE FROM undertext_page WHERE ctid = '(0,1)'",
        "SELECT 1 FROM a LEFT JOIN b ON true",
        "INSERT INTO t (a) VALUES ($1, (SELECT 1))",
        "UPDATE t SET a = convert_to('x', 'UTF8')",
    ]
    faults += [
        f"sql_lint.py does not see what is wrong with: {sql}"
        for sql in bad
        if not faults_of("Messages", "bad", sql)
    ]
    print("\n".join(faults) or f"{len(found)} statements keep to what the engines have in common")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
