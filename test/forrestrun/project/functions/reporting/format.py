def markdown(inputs):
    return {"text": f"# {inputs['title']}"}
