#!/usr/bin/env python3
"""Makes conversations and questions about them, each with the messages that answer it.

    bench/recall/make.py FILE [--seed 23] [--held-out]      --held-out: with templates that nothing was tuned on (held_out.py)

Every line of FILE is a conversation: {"language", "messages", "questions": [{"text", "evidence"}]}.
Evidence is a list of places in `messages`. The same seed makes the same bytes.

What makes it hard, on purpose: many people do similar things, so that names and verbs alone find the
wrong message; a third of the answers stand in the reply to a question and share no word with what is
asked later; questions are asked with other endings, and partly other words, than the message has.
"""

import argparse
import json
import random
import sys

import held_out

EN = {
    "people": "Anna Ben Carla David Emma Felix Grace Henry Iris Jacob Karen Louis Mia Nathan Olivia Peter Quinn Rosa Simon Tara".split(),
    "things": [
        "pottery class",
        "mountain hike",
        "job interview",
        "wedding",
        "marathon",
        "chess tournament",
        "cooking course",
        "concert",
        "road trip",
        "garden project",
        "book club",
        "dance lesson",
        "camping trip",
        "photo exhibition",
        "language exam",
        "swimming race",
    ],
    "places": [
        "Lisbon",
        "Oslo",
        "Denver",
        "Kyoto",
        "Cairo",
        "Prague",
        "Boston",
        "Lima",
        "Dublin",
        "Athens",
        "Seattle",
        "Vienna",
    ],
    "colours": ["blue", "green", "red", "yellow", "purple", "orange", "silver", "black"],
    "objects": [
        "bicycle",
        "jacket",
        "guitar",
        "suitcase",
        "lamp",
        "carpet",
        "camera",
        "teapot",
        "violin",
        "tent",
    ],
    "times": [
        "last Friday",
        "in early March",
        "two weeks ago",
        "on Tuesday morning",
        "during the holidays",
        "next month",
        "in the autumn",
    ],
    "told": [
        ("{p} signed up for the {t} in {c} {w}.", "When did {p} register for the {t}?"),
        ("I heard that {p} loved the {t} near {c}.", "What did {p} enjoy around {c}?"),
        ("{p} bought a {k} {o} at the market in {c}.", "Which {o} did {p} buy?"),
        (
            "My friend {p} is organizing a {t}, and needs a {k} {o} for it.",
            "What does {p} need for the {t}?",
        ),
        ("{p}'s {o} was stolen in {c} {w}.", "Where was the {o} of {p} stolen?"),
        ("{p} cancelled the {t} because of the weather in {c}.", "Why was {p}'s {t} cancelled?"),
        (
            "We painted the {o} {k} when {p} came to visit {w}.",
            "What color is the {o} that was painted with {p}?",
        ),
    ],
    "asked": [
        (
            "So where did {p} go for the {t}?",
            "To {c}, {w}. It was wonderful!",
            "Where was {p}'s {t}?",
        ),
        (
            "And what did {p} bring to the {t}?",
            "A {k} {o}, of all things.",
            "What did {p} bring along to the {t}?",
        ),
        (
            "How was {p}'s {t}?",
            "Rather short: they had to leave after an hour.",
            "How did the {t} of {p} go?",
        ),
    ],
    "chat": [
        "That sounds great, tell me more!",
        "I had no idea.",
        "How is work these days?",
        "The weather is finally getting better.",
        "I will think about it.",
        "Let us talk about it tomorrow.",
        "My kids keep me busy.",
        "Did you see the news?",
        "Thanks for telling me.",
        "I am cooking dinner right now.",
        "We should meet again soon.",
        "That reminds me of old times.",
    ],
}
DE = {
    "people": "Anja Bernd Clara Dieter Erika Frank Greta Heinz Inge Jonas Katrin Lukas Maria Niklas Petra Ralf Sabine Thomas Ulrike Werner".split(),
    "things": [
        "Töpferkurs",
        "Bergwanderung",
        "Vorstellungsgespräch",
        "Hochzeit",
        "Marathon",
        "Schachturnier",
        "Kochkurs",
        "Konzert",
        "Radtour",
        "Gartenprojekt",
        "Lesekreis",
        "Tanzstunde",
        "Zeltlager",
        "Ausstellung",
        "Sprachprüfung",
    ],
    "places": [
        "Lissabon",
        "Oslo",
        "Hamburg",
        "Zürich",
        "Kairo",
        "Prag",
        "Dresden",
        "Lübeck",
        "Wien",
        "Athen",
        "Köln",
        "Graz",
    ],
    "colours": ["blaue", "grüne", "rote", "gelbe", "lila", "silberne", "schwarze", "weiße"],
    "objects": [
        "Jacke",
        "Gitarre",
        "Lampe",
        "Kamera",
        "Geige",
        "Tasche",
        "Uhr",
        "Vase",
        "Brille",
        "Decke",
    ],
    "times": [
        "letzten Freitag",
        "Anfang März",
        "vor zwei Wochen",
        "am Dienstagmorgen",
        "in den Ferien",
        "im nächsten Monat",
        "im Herbst",
    ],
    "told": [
        ("{p} hat sich {w} für {t} in {c} angemeldet.", "Wann meldete sich {p} für {t} an?"),
        (
            "Ich habe gehört, dass {p} von {t} bei {c} begeistert war.",
            "Was hat {p} bei {c} begeistert?",
        ),
        ("{p} hat auf dem Markt in {c} eine {k} {o} gekauft.", "Welche {o} kaufte {p}?"),
        (
            "{p} organisiert {t} und braucht dafür eine {k} {o}.",
            "Was wird von {p} für {t} gebraucht?",
        ),
        ("Die {o} von {p} wurde {w} in {c} gestohlen.", "Wo ist {p} die {o} gestohlen worden?"),
        (
            "{p} hat {t} wegen der Verbindungen nach {c} abgesagt.",
            "Welche Verbindung war der Grund, dass {p} {t} absagte?",
        ),
        (
            "Wir haben eine {k} {o} genäht, als {p} {w} zu Besuch war.",
            "Was wurde beim Besuch von {p} genäht?",
        ),
    ],
    "asked": [
        (
            "Und wo war {p} wegen {t}?",
            "In {c}, {w}. Es war wunderbar!",
            "An welchem Ort war {p} für {t}?",
        ),
        (
            "Was hat {p} zu {t} mitgebracht?",
            "Ausgerechnet eine {k} {o}.",
            "Was brachte {p} zu {t} mit?",
        ),
        (
            "Wie war denn {t} bei {p}?",
            "Eher kurz, nach einer Stunde mussten sie gehen.",
            "Wie ist {t} für {p} verlaufen?",
        ),
    ],
    "chat": [
        "Das klingt toll, erzähl mehr!",
        "Das wusste ich gar nicht.",
        "Wie läuft die Arbeit?",
        "Das Wetter wird endlich besser.",
        "Ich denke darüber nach.",
        "Lass uns morgen darüber reden.",
        "Meine Kinder halten mich auf Trab.",
        "Danke, dass du es mir sagst.",
        "Ich koche gerade das Abendessen.",
        "Wir sollten uns bald wieder treffen.",
        "Das erinnert mich an früher.",
    ],
}
ZH = {
    "people": "王芳 李伟 张敏 刘洋 陈静 杨磊 赵丽 黄强 周杰 吴霞 徐明 孙燕 马超 朱琳 胡军 郭雪 何涛 高娟 林峰 罗兰".split(),
    "things": [
        "陶艺课",
        "登山活动",
        "工作面试",
        "婚礼",
        "马拉松",
        "象棋比赛",
        "烹饪课程",
        "音乐会",
        "自驾游",
        "花园项目",
        "读书会",
        "舞蹈课",
        "露营",
        "摄影展",
        "外语考试",
    ],
    "places": [
        "上海",
        "北京",
        "成都",
        "西安",
        "杭州",
        "广州",
        "南京",
        "青岛",
        "昆明",
        "大连",
        "苏州",
        "厦门",
    ],
    "colours": ["蓝色", "绿色", "红色", "黄色", "紫色", "橙色", "银色", "黑色"],
    "objects": [
        "自行车",
        "外套",
        "吉他",
        "行李箱",
        "台灯",
        "地毯",
        "照相机",
        "茶壶",
        "小提琴",
        "帐篷",
    ],
    "times": ["上周五", "三月初", "两个星期前", "星期二早上", "假期里", "下个月", "秋天"],
    "told": [
        ("{p}{w}报名参加了{c}的{t}。", "{p}什么时候报名的{t}？"),
        ("听说{p}很喜欢{c}附近的{t}。", "{p}在{c}喜欢什么？"),
        ("{p}在{c}的市场买了一个{k}的{o}。", "{p}买的{o}是什么颜色？"),
        ("{p}正在组织{t}，需要一个{k}的{o}。", "{p}组织{t}需要什么？"),
        ("{p}的{o}{w}在{c}被偷了。", "{p}的{o}在哪里被偷的？"),
        ("因为{c}的天气，{p}取消了{t}。", "{p}为什么取消{t}？"),
        ("{w}{p}来的时候，我们把{o}刷成了{k}。", "和{p}一起刷的{o}是什么颜色？"),
    ],
    "asked": [
        ("{p}去哪里参加{t}了？", "去了{c}，{w}去的，特别好！", "{p}的{t}在哪里？"),
        ("{p}给{t}带了什么？", "居然是一个{k}的{o}。", "{p}带了什么去{t}？"),
        ("{p}的{t}怎么样？", "很短，一个小时就走了。", "{p}的{t}进行得怎么样？"),
    ],
    "chat": [
        "听起来不错，多说一点！",
        "我完全不知道。",
        "最近工作怎么样？",
        "天气终于好起来了。",
        "我再想想。",
        "我们明天再聊吧。",
        "孩子们让我很忙。",
        "谢谢你告诉我。",
        "我正在做晚饭。",
        "我们应该尽快再见面。",
        "这让我想起了从前。",
    ],
}
JA = {
    "people": "田中 佐藤 鈴木 高橋 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 松本 井上 木村 清水 森田 池田 橋本 石川".split(),
    "things": [
        "陶芸教室",
        "登山",
        "就職面接",
        "結婚式",
        "マラソン",
        "将棋大会",
        "料理教室",
        "コンサート",
        "ドライブ旅行",
        "庭づくり",
        "読書会",
        "ダンスレッスン",
        "キャンプ",
        "写真展",
        "語学試験",
    ],
    "places": [
        "京都",
        "大阪",
        "札幌",
        "福岡",
        "名古屋",
        "仙台",
        "広島",
        "金沢",
        "長崎",
        "奈良",
        "神戸",
        "那覇",
    ],
    "colours": ["青い", "緑の", "赤い", "黄色い", "紫の", "銀色の", "黒い", "白い"],
    "objects": [
        "自転車",
        "ジャケット",
        "ギター",
        "スーツケース",
        "ランプ",
        "じゅうたん",
        "カメラ",
        "急須",
        "バイオリン",
        "テント",
    ],
    "times": [
        "先週の金曜日に",
        "三月の初めに",
        "二週間前に",
        "火曜日の朝に",
        "休みの間に",
        "来月",
        "秋に",
    ],
    "told": [
        ("{p}さんは{w}{c}の{t}に申し込みました。", "{p}さんはいつ{t}を申し込みましたか？"),
        (
            "{p}さんは{c}の近くの{t}がとても気に入ったそうです。",
            "{p}さんは{c}で何が気に入りましたか？",
        ),
        ("{p}さんは{c}の市場で{k}{o}を買いました。", "{p}さんが買った{o}は何色ですか？"),
        ("{p}さんは{t}を企画していて、{k}{o}が必要です。", "{p}さんの{t}には何が必要ですか？"),
        ("{p}さんの{o}は{w}{c}で盗まれました。", "{p}さんの{o}はどこで盗まれましたか？"),
        ("{c}の天気のため、{p}さんは{t}を中止しました。", "{p}さんはなぜ{t}を中止しましたか？"),
    ],
    "asked": [
        (
            "{p}さんは{t}でどこへ行ったの？",
            "{c}だよ。{w}行って、最高だった！",
            "{p}さんの{t}はどこでしたか？",
        ),
        (
            "{p}さんは{t}に何を持ってきたの？",
            "なんと{k}{o}だよ。",
            "{p}さんが{t}に持参したものは何ですか？",
        ),
        ("{p}さんの{t}はどうだった？", "短かったよ。一時間で帰った。", "{p}さんの{t}の様子は？"),
    ],
    "chat": [
        "いいね、もっと教えて！",
        "全然知らなかった。",
        "最近仕事はどう？",
        "やっと天気が良くなってきたね。",
        "考えておくね。",
        "また明日話そう。",
        "子どもたちで忙しいよ。",
        "教えてくれてありがとう。",
        "今、夕飯を作っているところ。",
        "また近いうちに会おう。",
        "昔を思い出すね。",
    ],
}
CODING = {
    "nouns": "token session cache index record page queue worker router parser buffer cursor schema ledger digest upload invoice webhook retry lease".split(),
    "verbs": "load save merge flush parse render commit rotate resolve validate encode split sort prune".split(),
    "errors": [
        "ECONNREFUSED",
        "TypeError: undefined is not a function",
        "SIGSEGV",
        "deadlock detected",
        "permission denied",
        "ENOSPC",
        "assertion failed",
        "timeout after 30s",
        "invalid UTF-8",
        "out of memory",
    ],
    "asks": ["Please fix the failing test in {p}.", "Why does {f} fail?", "Can you refactor {f}?"],
    "cause": "The {n} was {k} when {f} ran; I now {v} the {m} first.",
    "states": ["closed", "null", "stale", "shared", "locked"],
    "questions": [
        "which error was reported in {p}",
        "what caused the failure of {f} and how was it fixed",
        "{e} in {f}",
        "where is {f} defined",
    ],
    "chat": [
        ["Go on.", "Looks good, next.", "Run the tests again please.", "Thanks!"],
        ["All tests pass.", "Done.", "The build is green.", "Two tests are still failing."],
    ],
}


def dialogue(rng, words, count, facts):
    slots = lambda: {
        "p": rng.choice(words["people"]),
        "t": rng.choice(words["things"]),
        "c": rng.choice(words["places"]),
        "k": rng.choice(words["colours"]),
        "o": rng.choice(words["objects"]),
        "w": rng.choice(words["times"]),
    }
    messages, questions, seen = [], [], set()

    def say(text):
        messages.append({"role": ("user", "assistant")[len(messages) % 2], "content": text})
        return len(messages) - 1

    while len(questions) < facts or len(messages) < count:
        if rng.random() < 0.55:
            say(rng.choice(words["chat"]))
            continue
        s = slots()
        if rng.random() < 0.33:
            ask, reply, question = rng.choice(words["asked"])
            say(ask.format(**s))
            place = say(reply.format(**s))
        else:
            tell, question = rng.choice(words["told"])
            tail = " " + rng.choice(words["chat"]) if rng.random() < 0.5 else ""
            place = say(tell.format(**s) + tail)
        text = question.format(**s)
        if text in seen or len(questions) >= facts:
            continue
        seen.add(text)
        questions.append({"text": text, "evidence": [place]})
    return messages, questions


def coding(rng, turns, facts, words=CODING):
    messages, questions, seen = [], [], set()
    calls = 0
    nouns, verbs = words["nouns"], words["verbs"]

    def name():
        return (
            rng.choice(verbs)
            + rng.choice(nouns).capitalize()
            + rng.choice(["", "s", "ById", "Batch", "Async"])
        )

    while len(messages) < turns or len(questions) < facts:
        function, path = (
            name(),
            f"src/{rng.choice(nouns)}/{rng.choice(verbs)}_{rng.choice(nouns)}.{rng.choice(['ts', 'py', 'cpp', 'go'])}",
        )
        error, line = rng.choice(words["errors"]), rng.randrange(10, 900)
        calls += 1
        call = f"call_{calls}"
        messages.append(
            {"role": "user", "content": rng.choice(words["asks"]).format(p=path, f=function)}
        )
        messages.append(
            {
                "role": "assistant",
                "content": "I will look at it.",
                "toolCalls": [
                    {
                        "id": call,
                        "type": "function",
                        "function": {"name": "read_file", "arguments": json.dumps({"path": path})},
                    }
                ],
            }
        )
        body = "\n".join(
            f"{n}: {rng.choice(['return', 'const x =', 'if (ready)', 'await'])} {name()}({rng.choice(nouns)});"
            for n in range(line, line + rng.randrange(5, 25))
        )
        messages.append(
            {
                "role": "tool",
                "toolCallId": call,
                "content": f"{path}:{line}: in {function}: {error}\n{body}",
            }
        )
        found = len(messages) - 1
        cause = words["cause"].format(
            n=rng.choice(nouns),
            k=rng.choice(words["states"]),
            f=function,
            v=rng.choice(verbs),
            m=rng.choice(nouns),
        )
        messages.append({"role": "assistant", "content": cause})
        made = len(messages) - 1
        kind = rng.randrange(4)
        text = words["questions"][kind].format(p=path, f=function, e=error)
        evidence = [made if kind == 1 else found]
        if text not in seen and len(questions) < facts:
            seen.add(text)
            questions.append({"text": text, "evidence": evidence})
        for _ in range(rng.randrange(0, 3)):
            messages.append({"role": "user", "content": rng.choice(words["chat"][0])})
            messages.append({"role": "assistant", "content": rng.choice(words["chat"][1])})
    return messages, questions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--held-out", action="store_true")
    given = parser.parse_args()
    sets = held_out if given.held_out else sys.modules[__name__]
    rng = random.Random(given.seed)
    with open(given.file, "w", encoding="utf-8") as out:
        for language, words in (
            ("English", sets.EN),
            ("German", sets.DE),
            ("Chinese", sets.ZH),
            ("Japanese", sets.JA),
        ):
            for _ in range(5):
                messages, questions = dialogue(rng, words, 600, 50)
                out.write(
                    json.dumps(
                        {"language": language, "messages": messages, "questions": questions},
                        ensure_ascii=False,
                    )
                    + "\n"
                )
        for _ in range(5):
            messages, questions = coding(rng, 800, 60, sets.CODING)
            out.write(
                json.dumps(
                    {"language": "coding", "messages": messages, "questions": questions},
                    ensure_ascii=False,
                )
                + "\n"
            )


if __name__ == "__main__":
    main()
