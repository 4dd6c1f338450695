import undertext

with undertext.open() as conversation:
    conversation.append([
        {"role": "system", "content": "You fix bugs."},
        {"role": "user", "content": "The build is red."},
        {"role": "assistant", "content": "A test fails in parser.cpp."},
        {"role": "user", "content": "Please fix it."},
    ])

    # Compress what is old. Nothing is lost: the summary knows what it stands for.
    conversation.compress(indices=[1, 2], summary={"role": "user", "content": "(Red build: parser.cpp.)"})
    for message in conversation.messages():
        print(message["role"], "-", message["content"])

    # Go back to before it. Every version stays readable.
    conversation.rollback(0)
    print(len(conversation), "messages again; version 2 had", len(conversation.view(2)))
    print(conversation.messages(role="user", last=1))
